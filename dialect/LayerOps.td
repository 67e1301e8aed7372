// Contractions, reductions, normalizers, losses.
#ifndef TENON_LAYER_OPS_TD
#define TENON_LAYER_OPS_TD
include "TenonDialect.td"

class Tenon_LayerOp<string mnemonic, list<Trait> traits = []>
    : Tenon_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<ElementOpInterface>,
                                      DeclareOpInterfaceMethods<DifferentiableOpInterface>], traits)> {
  let hasVerifier = 1;
}
/// Of the gradient of a row op: ops without a gradient of their own.
class Tenon_RowGradOp<string mnemonic, list<Trait> traits = []>
    : Tenon_Op<mnemonic, !listconcat([Pure, Tenon_ReadsRows, DeclareOpInterfaceMethods<ElementOpInterface>], traits)>;

def Tenon_DotOp : Tenon_LayerOp<"dot", [Tenon_Contraction, Tenon_ReadsMemory,
                                        DeclareOpInterfaceMethods<RowOpInterface, ["dimsInResults"]>,
                                        DeclareOpInterfaceMethods<MixedPrecisionOpInterface, ["narrowOperands"]>]> {
  let summary = "contraction of two tensors";
  let description = [{
    Formula: every dimension of both operands has a label. Labels below the rank of y are the dimensions of y in order; the others
    are summed over: `y[i0, .., i(r-1)] = sum over labels >= r of a[labels of a] * b[labels of b]`. A label in a, b and y is a
    batch dimension.

    | operand | shape | dtype |
    |---|---|---|
    | a, b | any | real |
    | y | labels 0 .. r-1 | as a, or f32 for products of bf16 or f16 |

    Constraints: C1 one label per dimension, from 0 on, different within an operand; C2 equal labels have equal sizes; C3 every
    label of y occurs in an operand; C4 summed labels occur in both; C5 a and b have one element type, y has it or the one that it
    is computed in.
    Sums are made in the latter.

    Gradient: da = dot(dy, b), db = dot(a, dy) with the same labels.

    Source: Einstein 1916, section 5 (summation over repeated indices), with free and batch labels.

    Example:
    ```mlir
    %y = tenon.dot %x[0, 1, 3], %w[2, 3] : tensor<2x5x8xf32>, tensor<4x8xf32> -> tensor<2x5x4xf32>
    ```
  }];
  let arguments = (ins Tenon_RealTensor:$a, Tenon_RealTensor:$b, DenseI64ArrayAttr:$a_labels, DenseI64ArrayAttr:$b_labels);
  let results = (outs Tenon_RealTensor:$y);
  let assemblyFormat = "$a `` $a_labels `,` $b `` $b_labels attr-dict `:` type($a) `,` type($b) `->` type($y)";
  let hasCanonicalizeMethod = 1;
}

def Tenon_Reduction : I32EnumAttr<"Reduction", "how elements are combined",
    [I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>, I32EnumAttrCase<"all", 3>,
     I32EnumAttrCase<"any", 4>]> {
  let cppNamespace = "::tenon";
}
def Tenon_ReduceOp : Tenon_LayerOp<"reduce", [InferTypeOpAdaptor, Tenon_ReadsMemory,
                                              DeclareOpInterfaceMethods<RowOpInterface, ["dimsInResults"]>,
                                              DeclareOpInterfaceMethods<MixedPrecisionOpInterface,
                                                                        ["readsRounded", "isReduction"]>]> {
  let summary = "sum, max, min, all or any over some dimensions";
  let description = [{
    Formula: `y[k] = kind over all i of x[i, k]`, i the indices of the dimensions `dims`. A sum adds in a fixed tree, whatever the
    number of threads.

    | operand | shape | dtype |
    |---|---|---|
    | x | as y with the dimensions `dims` | as y |

    The dimensions `dims` disappear. An empty sum is 0, an empty max is -inf.

    Constraints: C1 dims ascending and inside; C2 the other sizes are those of y in order; C3 all, any take truth values, the rest
    numbers.

    Gradient: sum: dy repeated; max, min: dy to the places that equal y, divided by their number.

    Source: docs/language.md, reductions over axes; the tree: `tenon.fold`.

    Example:
    ```mlir
    %y = tenon.reduce sum %x [1] : tensor<4x8xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Tenon_Reduction:$kind, Tenon_Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Tenon_Tensor:$y);
  let assemblyFormat = "$kind $x $dims attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = Tenon_ElementCost<"kCostOfRow">.method # [{
    bool isRowResult(unsigned);
  }];
}
def Tenon_RunningSumOp : Tenon_LayerOp<"running_sum", [SameOperandsAndResultType, Tenon_ReadsMemory,
                                                       DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                                           DeclareOpInterfaceMethods<KernelOpInterface, ["parallelDomain"]>]> {
  let summary = "sums of all elements up to each place along one dimension";
  let description = [{
    Formula: `y[.., i, ..] = sum over j <= i of x[.., j, ..]`, with `reverse` over j >= i, along dimension `dim`.

    | operand | shape | dtype |
    |---|---|---|
    | x | as y | number, as y |

    One addition per element, in the order of the places, reals in f64, integers modulo their width: the bits depend neither on
    threads nor on the vectors of a machine.

    Constraints: C1 dim is a dimension of x.

    Gradient: dx = the running sum of dy in the other direction; integers have none.

    Source: Blelloch 1990, section 1 (the inclusive scan with addition).

    Example:
    ```mlir
    %y = tenon.running_sum %x dim 1 : tensor<2x5xf32>
    ```
  }];
  let arguments = (ins Tenon_NumberTensor:$x, Tenon_Natural:$dim, UnitAttr:$reverse);
  let results = (outs Tenon_NumberTensor:$y);
  let assemblyFormat = "$x `dim` $dim (`reverse` $reverse^)? attr-dict `:` type($y)";
  let hasFolder = 1;
}

def Tenon_ArgMaxOp : Tenon_Op<"argmax", [Pure, InferTypeOpAdaptor, DeclareOpInterfaceMethods<ElementOpInterface>,
                                         DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "where the largest element stands along one dimension";
  let description = [{
    Formula: `y[k] = the smallest i at which x[.., i, ..] is max over all j of x[.., j, ..]`, i and j along dimension `dim`.

    | operand | shape | dtype |
    |---|---|---|
    | x | as y with the dimension `dim` | number |
    | y | as x without it | i32 |

    As in a `max`, a NaN is below every number; where there is nothing else, y is 0. Elements are computed twice where they are
    read, so that an operand which nobody else reads needs no memory.

    Constraints: C1 x has dimension `dim`, y lacks it.

    Gradient: none, its result is an index.

    Source: docs/functions.md, "Reductions".

    Example:
    ```mlir
    %y = tenon.argmax %x dim 1 : tensor<4x8xf32> -> tensor<4xi32>
    ```
  }];
  let arguments = (ins Tenon_NumberTensor:$x, Tenon_Natural:$dim);
  let results = (outs Tenon_IntTensor:$y);
  let assemblyFormat = "$x `dim` $dim attr-dict `:` type($x) `->` type($y)";
  let extraClassDeclaration = Tenon_ElementCost<"kCostOfRow">.method # [{
    bool isRowResult(unsigned) { return int64_t(getDim()) + 1 == getX().getType().getRank(); }
  }];
}
def Tenon_TopOp : Tenon_Op<"top", [Pure, Tenon_ReadsMemory, DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                   DeclareOpInterfaceMethods<KernelOpInterface, ["parallelDomain"]>]> {
  let summary = "where the k largest elements of each row stand";
  let description = [{
    Formula: `y[.., k]` is the place of the element number k of the row `x[.., :]` in descending order, equal ones by their place.

    | operand | shape | dtype |
    |---|---|---|
    | x | at least one dimension | number |
    | y | as x, the last dimension at most as long | i32 |

    A NaN is below every number, and 0 is -0. The places of a row all differ.

    Constraints: C1 x has a dimension; C2 y has its other dimensions; C3 the last one of y is not longer.

    Gradient: none, its result is an index; the elements themselves are a `tenon.gather`.

    Source: Floyd 1964 and Williams 1964 (heap, heapsort), over the k best so far.

    Example:
    ```mlir
    %y = tenon.top %x : tensor<4x8xf32> -> tensor<4x3xi32>
    ```
  }];
  let arguments = (ins Tenon_NumberTensor:$x);
  let results = (outs Tenon_IntTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

def Tenon_SoftmaxOp : Tenon_LayerOp<"softmax", [SameOperandsAndResultType, Tenon_ReadsRows, Tenon_ReadsMemory,
                                                DeclareOpInterfaceMethods<RowOpInterface, ["dimsInResults"]>,
                                                DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "softmax or its logarithm along the last dimension";
  let description = [{
    Formula: `y = exp(x - max x) / sum exp(x - max x)`, or with `log` `x - max x - ln sum exp(x - max x)`, along the last
    dimension.

    | operand | shape | dtype |
    |---|---|---|
    | x | as y, at least one dimension | real, as y |

    Constraints: C1 x has a dimension, y has its type.

    Gradient: `dx = y (dy - sum dy y)`; with `log` `dx = dy - exp(y) sum dy`.

    Source: Bridle 1990 (softmax); the shift by the maximum: Milakov & Gimelshein 2018, section 2.

    Example:
    ```mlir
    %y = tenon.softmax %x : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_RealTensor:$x, UnitAttr:$log);
  let results = (outs Tenon_RealTensor:$y);
  let assemblyFormat = "(`log` $log^)? $x attr-dict `:` type($y)";
  let extraClassDeclaration = Tenon_ElementCost<"kCostOfRow">.method;
}

def Tenon_NormalizeOp : Tenon_LayerOp<"normalize",
                                      [InferTypeOpAdaptor,
                                       DeclareOpInterfaceMethods<MixedPrecisionOpInterface, ["isSavedNarrow"]>, Tenon_ReadsRows,
                                       DeclareOpInterfaceMethods<RowOpInterface, ["dimsInResults"]>,
                                       Tenon_ReadsMemory, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "zero mean and unit variance along the last dimension";
  let description = [{
    Formula: mean = sum x / D, rstd = 1 / sqrt(sum (x - mean)^2 / D + eps) (biased variance, two passes), y = (x - mean) rstd.

    | operand | shape | dtype |
    |---|---|---|
    | x | [.., D] | real, as y |

    Constraints: C1 y has the type of x; C2 mean and rstd have its other dimensions.

    Gradient: `tenon.normalize_grad`; only x and the two statistics are kept. mean and rstd are not differentiable themselves.

    Source: Ba, Kiros, Hinton 2016.

    Example:
    ```mlir
    %y, %mean, %rstd = tenon.normalize %x eps 1.0e-5 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Tenon_RealTensor:$x, F64Attr:$eps);
  let results = (outs Tenon_RealTensor:$y, Tenon_RealTensor:$mean, Tenon_RealTensor:$rstd);
  let assemblyFormat = "$x `eps` $eps attr-dict `:` type($x) `->` type($y) `,` type($mean) `,` type($rstd)";
  let extraClassDeclaration = [{
    bool isRowResult(unsigned result) { return result > 0; }
  }];
  let hasVerifier = 0; // the rule of its types says it all
}
def Tenon_NormalizeGradOp : Tenon_RowGradOp<"normalize_grad", [AllTypesMatch<["dy", "x", "dx"]>,
                                                               AllTypesMatch<["mean", "rstd"]>]> {
  let summary = "gradient of normalize";
  let description = [{
    Formula: with n = (x - mean) rstd: `dx = rstd (dy - sum dy / D - n sum (dy n) / D)`.

    | operand | shape | dtype |
    |---|---|---|
    | dy, x | [.., D] | real, as dx |
    | mean, rstd | [..] | as dx |

    Constraints: C1 dy and dx have the type of x; C2 mean and rstd have it without the last dimension.

    Gradient: not supported yet (a second derivative).

    Source: the derivative of Ba, Kiros, Hinton 2016, equation 3.

    Example:
    ```mlir
    %dx = tenon.normalize_grad %dy, %x, %mean, %rstd : tensor<4x8xf32>, tensor<4xf32>
    // %x: tensor<4x8xf32> %dy: tensor<4x8xf32> %mean: tensor<4xf32> %rstd: tensor<4xf32>
    ```
  }];
  let arguments = (ins Tenon_RealTensor:$dy, Tenon_RealTensor:$x, Tenon_RealTensor:$mean, Tenon_RealTensor:$rstd);
  let results = (outs Tenon_RealTensor:$dx);
  let assemblyFormat = "$dy `,` $x `,` $mean `,` $rstd attr-dict `:` type($x) `,` type($mean)";
  let hasVerifier = 1;
}

def Tenon_CrossEntropyOp : Tenon_LayerOp<"cross_entropy", [InferTypeOpAdaptor, Tenon_ReadsRows, Tenon_ReadsMemory,
                                                           AllTypesMatch<["loss", "lse"]>,
                                                           DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "negative log-likelihood of labels under the softmax of logits along the last dimension";
  let description = [{
    Formula: with p = log softmax(x): `loss = -(t_y p_y + u sum_{c != y} p_c)`, u = `spread` the target weight of every other
    class (but `skip`), t_y the rest of 1; u = 0 gives -p_y. Rows where `where` is false give 0 and are not read. lse is the
    logarithm of the sum of exponentials, kept for the gradient.

    | operand | shape | dtype |
    |---|---|---|
    | logits | [.., V] | real |
    | labels | [..] | integer in 0 .. V-1 |
    | where | [..] | truth value, optional |
    | loss, lse | [..] | as logits |

    Constraints: C1 labels, where, loss and lse have the shape of logits without the last dimension; C2 0 <= spread <= 1.

    Gradient: `tenon.cross_entropy_grad`.

    Source: Szegedy et al. 2016, section 7 (spread targets); the rows that count: Devlin et al. 2019, section 3.1.

    Example:
    ```mlir
    %loss, %lse = tenon.cross_entropy %logits, %labels : tensor<4x50xf32>, tensor<4xi32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Tenon_RealTensor:$logits, Tenon_IntTensor:$labels, Optional<Tenon_BoolTensor>:$where,
                   DefaultValuedAttr<F64Attr, "0.0">:$spread, DefaultValuedAttr<I64Attr, "-1">:$skip);
  let results = (outs Tenon_RealTensor:$loss, Tenon_RealTensor:$lse);
  let assemblyFormat = "$logits `,` $labels (`where` $where^ `:` type($where) `,`)? (`spread` $spread^)? (`skip` $skip^)? "
                       "attr-dict `:` type($logits) `,` type($labels) `->` type($loss)";
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 0; // the rule of its types says it all
  let extraClassDeclaration = [{
    bool isRowResult(unsigned) { return true; }
    MaybeReading readingOf(mlir::OpOperand &operand);
  }];
}
def Tenon_CrossEntropyGradOp : Tenon_RowGradOp<"cross_entropy_grad", [AllTypesMatch<["logits", "dlogits"]>,
                                                                      AllTypesMatch<["lse", "dloss"]>]> {
  let summary = "gradient of cross_entropy with respect to the logits";
  let description = [{
    Formula: `dlogits = dloss (exp(logits - lse) - target)`, target as in cross_entropy; 0 where `where` is false.

    | operand | shape | dtype |
    |---|---|---|
    | dloss, lse | [..] | as dlogits |
    | logits | [.., V] | as dlogits |
    | labels | [..] | integer in 0 .. V-1 |
    | where | [..] | truth value, optional |

    Constraints: C1 and C2 of `tenon.cross_entropy`; C3 lse and dloss have the type of logits without the last dimension.

    Gradient: not supported yet (a second derivative).

    Source: the derivative of `tenon.cross_entropy`; spread targets: Szegedy et al. 2016, section 7.

    Example:
    ```mlir
    %d = tenon.cross_entropy_grad %dloss, %logits, %labels, %lse : tensor<4x50xf32>, tensor<4xi32>, tensor<4xf32>
    // %dloss: tensor<4xf32> %logits: tensor<4x50xf32> %labels: tensor<4xi32> %lse: tensor<4xf32>
    ```
  }];
  let arguments = (ins Tenon_RealTensor:$dloss, Tenon_RealTensor:$logits, Tenon_IntTensor:$labels, Tenon_RealTensor:$lse,
                   Optional<Tenon_BoolTensor>:$where, DefaultValuedAttr<F64Attr, "0.0">:$spread,
                   DefaultValuedAttr<I64Attr, "-1">:$skip);
  let results = (outs Tenon_RealTensor:$dlogits);
  let assemblyFormat = "$dloss `,` $logits `,` $labels `,` $lse (`where` $where^ `:` type($where) `,`)? (`spread` $spread^)? "
                       "(`skip` $skip^)? attr-dict `:` type($logits) `,` type($labels) `,` type($lse)";
  let extraClassDeclaration = [{
    MaybeReading readingOf(mlir::OpOperand &operand);
  }];
  let hasVerifier = 1;
}
#endif
