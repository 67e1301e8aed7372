// Weights that are packed once for many contractions.
#ifndef TENON_PACK_OPS_TD
#define TENON_PACK_OPS_TD
include "TenonDialect.td"

def Tenon_PackOp : Tenon_Op<"pack", [SameOperandsAndResultType,
                                     DeclareOpInterfaceMethods<KernelOpInterface, ["parallelDomain"]>]> {
  let summary = "a matrix in the panels that contractions read";
  let description = [{
    Formula: `packed = matrix`, in another order in memory.

    | operand | shape | dtype |
    |---|---|---|
    | matrix | two dimensions or more, known sizes | real |

    The result lies in panels as `tenon.panels` says (Panels.h). Its memory has room for columns and lines up to the next
    multiples of the width; what stands there behind the matrix is zeros as far as a contraction reads it. With `from` the matrix
    itself lies in panels, those of a parameter that go across the ones of the result; else it is row-major. A contraction that
    reads the same weight in each round of a loop need not pack it in each.

    Constraints: C1 it has tenon.panels; C2 from are four numbers as those, panels that cut the matrix without rest, of the same
    leading dimensions, width and steps as tenon.panels and transposed where these are not; C3 the result is read as operand b of
    gemms alone, with the same tenon.panels.

    Gradient: none, kernels are made after differentiation.

    Source: Goto & van de Geijn 2008 (packing).

    Example:
    ```mlir
    %p = tenon.pack %w {tenon.panels = array<i64: 1, 32, 1, 1>} : tensor<40x24xf32> // %w: tensor<40x24xf32>
    ```
  }];
  let arguments = (ins Tenon_RealTensor:$matrix, OptionalAttr<DenseI64ArrayAttr>:$from);
  let results = (outs Tenon_RealTensor:$packed);
  let assemblyFormat = "$matrix (`from` $from^)? attr-dict `:` type($packed)";
  let hasVerifier = 1;
}
#endif
