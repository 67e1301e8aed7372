// Contractions that leave products out.
#ifndef TENON_CONTRACTION_OPS_TD
#define TENON_CONTRACTION_OPS_TD
include "TenonDialect.td"

def Tenon_DotWhereOp : Tenon_Op<"dot_where", [Pure, Tenon_Contraction, Tenon_ReadsMemory,
                                               DeclareOpInterfaceMethods<ElementOpInterface>,
                                               DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                               DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                               DeclareOpInterfaceMethods<MixedPrecisionOpInterface, ["narrowOperands"]>]> {
  let summary = "contraction of two tensors, of the products that a condition names";
  let description = [{
    Formula: as `tenon.dot`, of the products at places where `where` is true; the others are left out, whatever their factors:
    `y[i0, .., i(r-1)] = sum over labels >= r of where[labels of it] ? a[labels of a] * b[labels of b] : 0`. With labels of y
    the condition names rows, of which the others are 0; with summed labels it names steps.

    | operand | shape | dtype |
    |---|---|---|
    | a, b | any | real |
    | where | any | truth value |
    | y | labels 0 .. r-1 | as a, or f32 for products of bf16 or f16 |

    Constraints: C1 to C5 of dot; C6 the condition has one label per dimension, of the size of that label, all different; C7 its
    labels are all summed, or are all of one operand alone.

    Gradient: da = dot_where(dy, b), db = dot_where(a, dy) with the same labels and condition, which is closed under C7.

    Source: Shazeer et al. 2017, section 2.1 (what a gate does not choose is not computed).

    Example:
    ```mlir
    %y = tenon.dot_where %x[0, 2], %w[1, 2] where %c[0] : tensor<4x8xf32>, tensor<5x8xf32>, tensor<4xi1> -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins Tenon_RealTensor:$a, Tenon_RealTensor:$b, Tenon_BoolTensor:$where, DenseI64ArrayAttr:$a_labels,
                   DenseI64ArrayAttr:$b_labels, DenseI64ArrayAttr:$where_labels);
  let results = (outs Tenon_RealTensor:$y);
  let assemblyFormat = "$a `` $a_labels `,` $b `` $b_labels `where` $where `` $where_labels attr-dict `:` type($a) `,` type($b) "
                       "`,` type($where) `->` type($y)";
  let extraClassDeclaration = [{
    /// The dimensions of an operand with these labels that are the condition's, in its order; none, where it lacks them.
    MaybeReading readingOf(mlir::OpOperand &operand);
    llvm::SmallVector<int64_t> dimsOfWhere(llvm::ArrayRef<int64_t> labels);
  }];
  let hasVerifier = 1;
}
#endif
