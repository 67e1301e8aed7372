// Sources, views and moves of elements.
#ifndef TENON_SHAPE_OPS_TD
#define TENON_SHAPE_OPS_TD
include "TenonDialect.td"

class Tenon_ShapeOp<string mnemonic, list<Trait> traits = [], int cost = 3>
    : Tenon_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<ElementOpInterface>,
                                      DeclareOpInterfaceMethods<DifferentiableOpInterface>], traits)> {
  let hasVerifier = 1;
  let extraClassDeclaration = Tenon_ElementCost<!cast<string>(cost)>.method;
}
class Tenon_ViewOp<string mnemonic, list<Trait> traits = []>
    : Tenon_ShapeOp<mnemonic, !listconcat([Tenon_View], traits), 0>;
class Tenon_SourceOp<string mnemonic, list<Trait> traits = [], int cost = 0>
    : Tenon_Op<mnemonic, !listconcat([Pure, Tenon_Source, DeclareOpInterfaceMethods<ElementOpInterface>], traits)> {
  let hasVerifier = 1;
  let extraClassDeclaration = Tenon_ElementCost<!cast<string>(cost)>.method;
}

def Tenon_ConstantOp : Tenon_SourceOp<"constant", [ConstantLike, Tenon_OfPlaces, RowOpInterface]> {
  let summary = "one number at every place";
  let description = [{
    Formula: `y = value`. The value is kept as f64 (exact for i32 and i1).

    | attribute | meaning |
    |---|---|
    | value | the number, rounded to the element type of y |

    Constraints: C1 a whole number for integers and truth values; C2 one that they have: 0 or 1 for truth values, below 2^53 for
    i64.

    Gradient: none, it has no operands.

    Source: docs/language.md, numbers in expressions.

    Example:
    ```mlir
    %y = tenon.constant 0.5 : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins F64Attr:$value);
  let results = (outs Tenon_Tensor:$y);
  let assemblyFormat = "$value attr-dict `:` type($y)";
  let hasFolder = 1;
  let extraClassDeclaration = Tenon_ElementCost<"0">.method # [{
    bool repeatsAlong(int64_t) { return true; }
  }];
}
def Tenon_SizeOp : Tenon_SourceOp<"size", [Tenon_OfPlaces]> {
  let summary = "a linear form of the dims as a number";
  let description = [{
    Formula: `y = form(dims)`, a scalar.

    | attribute | meaning |
    |---|---|
    | form | linear form of the dims of the entry |

    Constraints: C1 one form, over the dims of the entry; C2 y is a scalar.

    Gradient: none, it has no operands.

    Source: docs/language.md, section "Axes, not positions": the length of an axis as a number.

    Example:
    ```mlir
    %y = tenon.size affine_map<(d0, d1) -> (d1 + 150)> : tensor<i32>
    ```
  }];
  let arguments = (ins AffineMapAttr:$form);
  let results = (outs Tenon_IntTensor:$y);
  let assemblyFormat = "$form attr-dict `:` type($y)";
  let hasFolder = 1;
}
def Tenon_IotaOp : Tenon_SourceOp<"iota", [Tenon_OfPlaces]> {
  let summary = "the place along one dimension";
  let description = [{
    Formula: `y[.., i, ..] = i`, i the index of dimension `dim`.

    | attribute | meaning |
    |---|---|
    | dim | dimension of y |

    Constraints: C1 y has dimension `dim`.

    Gradient: none, it has no operands.

    Source: docs/language.md, section "Axes, not positions": the place along an axis as a number; the name is APL's.

    Example:
    ```mlir
    %y = tenon.iota 0 : tensor<8xi32>
    ```
  }];
  let arguments = (ins Tenon_Natural:$dim);
  let results = (outs Tenon_IntTensor:$y);
  let assemblyFormat = "$dim attr-dict `:` type($y)";
  let hasFolder = 1;
}
def Tenon_SinusoidOp : Tenon_SourceOp<"sinusoid", [Tenon_OfPlaces], 60> {
  let summary = "sinusoidal position table";
  let description = [{
    Formula: with p the place plus `start` (clipped to -clamp .. clamp if clamp > 0), h = D / 2 and k = 0 .. h-1,
    `w_k = 10000^(-2k / D)` (`t2t`: `exp(-k ln(10000) / max(h - 1, 1))`), the table holds sin(p w_k) at k and cos(p w_k) at h + k,
    or at 2k and 2k + 1 if `interleaved`; a left-over odd column is 0.

    | attribute | meaning |
    |---|---|
    | start | form added to the place |
    | clamp | bound of the place, 0: none |
    | interleaved | order of the columns |
    | t2t | the steps of tensor2tensor |

    Constraints: C1 y has two dimensions, the second a number; C2 start is one form, over the dims of the entry; C3 clamp is not
    negative.

    Gradient: none, it has no operands.

    Source: Vaswani et al. 2017, section 3.5; Dai et al. 2019 (halves); tensor2tensor (steps).

    Example:
    ```mlir
    %y = tenon.sinusoid start affine_map<() -> (0)> : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AffineMapAttr:$start, DefaultValuedAttr<Tenon_Natural, "0">:$clamp, UnitAttr:$interleaved, UnitAttr:$t2t);
  let results = (outs Tenon_RealTensor:$y);
  let assemblyFormat = "`start` $start (`clamp` $clamp^)? (`interleaved` $interleaved^)? (`t2t` $t2t^)? attr-dict `:` type($y)";
}

def Tenon_BroadcastOp : Tenon_ViewOp<"broadcast", [RowOpInterface]> {
  let summary = "transpose and repeat";
  let description = [{
    Formula: `y[i] = x[i[dims[0]], i[dims[1]], ..]`: dimension k of x is dimension dims[k] of y; y repeats x along its other
    dimensions. `dims` need not be sorted, so a transposition is a broadcast with as many dimensions on both sides.

    | operand | shape | dtype |
    |---|---|---|
    | x | dimension k as dimension dims[k] of y | as y |

    Constraints: C1 one entry of `dims` per dimension of x, all different; C2 sizes agree; C3 element types agree.

    Gradient: dx sums dy over the repeated dimensions, transposed back.

    Source: APL's dyadic transpose, with repetition.

    Example:
    ```mlir
    %y = tenon.broadcast %x [1] : tensor<8xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Tenon_Tensor:$y);
  let assemblyFormat = "$x $dims attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = Tenon_ElementCost<"0">.method # [{
    bool repeatsOperand() { return getX().getType().getRank() < getY().getType().getRank(); }
    std::optional<llvm::SmallVector<int64_t>> dimsOf(mlir::OpOperand &) { return llvm::to_vector(getDims()); }
    std::optional<llvm::SmallVector<int64_t>> dimsInResults(mlir::OpOperand &operand) { return dimsOf(operand); }
    bool repeatsAlong(int64_t dim) { return !llvm::is_contained(getDims(), dim); }
  }];
}
def Tenon_ReshapeOp : Tenon_ViewOp<"reshape"> {
  let summary = "split or merge neighbouring dimensions";
  let description = [{
    Formula: `y[i] = x[j]` where i and j have the same row-major place.

    | operand | shape | dtype |
    |---|---|---|
    | x | groups of dimensions as in y | as y |

    Row-major order of the elements is kept. `groups[k]` is the number of result dimensions that dimension group k covers,
    positive for a split of one dimension into that many, negative for a merge of that many into one; 1 keeps a dimension.

    Constraints: C1 the groups cover both shapes; C2 within a group the products of the sizes agree; C3 element types agree.

    Gradient: the reshape back.

    Source: Vaswani et al. 2017, section 3.2.2: a width split into heads, and merged.

    Example:
    ```mlir
    %y = tenon.reshape %x [1, 2] : tensor<4x8xf32> -> tensor<4x2x4xf32>
    ```
  }];
  let arguments = (ins Tenon_Tensor:$x, DenseI64ArrayAttr:$groups);
  let results = (outs Tenon_Tensor:$y);
  let assemblyFormat = "$x $groups attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}
def Tenon_SliceOp : Tenon_ViewOp<"slice"> {
  let summary = "consecutive elements of one dimension";
  let description = [{
    Formula: `y[.., i, ..] = x[.., low + i, ..]` along `dim`; `low` is a linear form of the dims.

    | operand | shape | dtype |
    |---|---|---|
    | x | as y but along `dim` | as y |

    Constraints: C1 x and y have one rank and element type, all sizes but that of `dim` agree; C2 low is one form, over the dims
    of the entry.
    That low and low + size stay inside was proved by the checker.

    Gradient: `tenon.pad`.

    Source: docs/language.md, section "Axes, not positions": a range of an axis.

    Example:
    ```mlir
    %y = tenon.slice %x 1 from affine_map<() -> (2)> : tensor<4x8xf32> -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins Tenon_Tensor:$x, I64Attr:$dim, AffineMapAttr:$low);
  let results = (outs Tenon_Tensor:$y);
  let assemblyFormat = "$x $dim `from` $low attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = Tenon_ElementCost<"0">.method # [{
    bool keepsRows() { return int64_t(getDim()) + 1 < getX().getType().getRank(); }
  }];
}
def Tenon_PadOp : Tenon_ShapeOp<"pad", [Tenon_Moves]> {
  let summary = "zeros around one dimension";
  let description = [{
    Formula: `y[.., i, ..] = x[.., i - low, ..]` where that exists, else 0.

    | operand | shape | dtype |
    |---|---|---|
    | x | as y but along `dim` | as y |

    Constraints: C1 x and y have one rank and element type, all sizes but that of `dim` agree; C2 low is one form, over the dims
    of the entry.

    Gradient: `tenon.slice`.

    Source: the transpose of `tenon.slice`.

    Example:
    ```mlir
    %y = tenon.pad %x 1 from affine_map<() -> (2)> : tensor<4x3xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_Tensor:$x, I64Attr:$dim, AffineMapAttr:$low);
  let results = (outs Tenon_Tensor:$y);
  let assemblyFormat = "$x $dim `from` $low attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}
def Tenon_WindowOp : Tenon_ViewOp<"window"> {
  let summary = "dimensions seen through sliding windows";
  let description = [{
    Formula: `y[.., i, k, ..] = x[.., j, ..]` with `j = (stride i + dilation k - pad) / divisor` where that is whole and inside x,
    else `fill`; so for each dimension of `dims`, which becomes two: windows i and places k inside. `paired`: x has the dimension
    of the places already, behind that of the windows, and `y[.., i, k, ..] = x[.., j, k, ..]`.

    | operand | shape | dtype |
    |---|---|---|
    | x | as y, with one dimension (`paired`: two) for each pair | as y |

    A view: contractions and reductions compute elements where they read them, and the windows are in no memory.

    Constraints: C1 dims ascending and inside x, with `paired` each followed by one of its own; C2 one stride, dilation, pad and
    divisor for each, strides and divisors at least 1; C3 x and y agree in all other sizes, with `paired` in those of the places;
    C4 in the element type, too; C5 fill is a whole number for integers, 0 or 1 for truth values.

    Gradient: the window of dy that is `paired`, with stride and divisor exchanged, dilation and pad negative; summed over the
    places unless y was paired.

    Source: Dumoulin & Visin 2016, sections 2 and 4 (stride, padding, dilation; the transpose of a convolution).

    Example:
    ```mlir
    %y = tenon.window %x [1] stride [2] dilation [1] pad [1] divisor [1] fill 0.0 : tensor<4x8xf32> -> tensor<4x4x3xf32>
    ```
  }];
  let arguments = (ins Tenon_Tensor:$x, DenseI64ArrayAttr:$dims, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$dilation,
                   DenseI64ArrayAttr:$pad, DenseI64ArrayAttr:$divisor, F64Attr:$fill, UnitAttr:$paired);
  let results = (outs Tenon_Tensor:$y);
  let assemblyFormat = "(`paired` $paired^)? $x $dims `stride` $stride `dilation` $dilation `pad` $pad `divisor` $divisor `fill` "
                       "$fill attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = Tenon_ElementCost<"0">.method # [{
    bool repeatsOperand() { return !getPaired(); }
    bool enlargesOperand() { return true; }
    /// Dimensions of y: windows, and the places inside of them, for entry `index` of dims.
    int64_t windowDim(size_t index) { return getDims()[index] + (getPaired() ? 0 : int64_t(index)); }
    int64_t placeDim(size_t index) { return windowDim(index) + 1; }
  }];
}
def Tenon_ConcatOp : Tenon_ShapeOp<"concat", [InferTypeOpAdaptor, Tenon_Moves]> {
  let summary = "tensors one after the other along one dimension";
  let description = [{
    Formula: `y[.., i, ..] = parts[k][.., i - s_k, ..]`, s_k the sum of the sizes of the parts before, k the last part with s_k <=
    i.

    | operand | shape | dtype |
    |---|---|---|
    | parts | as y but along `dim` | as y |

    Constraints: C1 all sizes but those of `dim` agree, ranks and element types too; C2 the sizes of `dim` add up.

    Gradient: slices of dy.

    Source: docs/language.md, concatenation along an axis (memory before tokens: Dai et al. 2019, section 3.2).

    Example:
    ```mlir
    %y = tenon.concat 0 %a, %b : tensor<2x8xf32>, tensor<3x8xf32> -> tensor<5x8xf32>
    ```
  }];
  let arguments = (ins I64Attr:$dim, Variadic<Tenon_Tensor>:$parts);
  let results = (outs Tenon_Tensor:$y);
  let assemblyFormat = "$dim $parts attr-dict `:` type($parts) `->` type($y)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 0; // the rule of its type says it all
}
def Tenon_GatherOp : Tenon_ShapeOp<"gather", [InferTypeOpAdaptor]> {
  let summary = "elements picked by an index tensor along one dimension";
  let description = [{
    Formula: `y[i] = x[..]`, where dimension k of x is read at i[x_dims[k]] and dimension `dim` (x_dims[dim] = -1) at
    `index[i[index_dims[0]], ..]`. Dimensions of y named by both lists are batched. With `clamp` the index is clipped to the
    dimension (it is in range wherever the element is used: under the mask of an attention).

    | operand | shape | dtype |
    |---|---|---|
    | x | sizes as y at x_dims | as y |
    | index | sizes as y at index_dims | integer, 0 .. size of `dim` - 1 |

    Constraints: C1 one entry of x_dims per dimension of x, -1 exactly at `dim`; C2 one entry of index_dims per dimension of
    index; C3 sizes agree; C4 every dimension of y is named.

    Gradient: dx = `tenon.scatter_add` of dy; the index has none.

    Source: docs/language.md, section "Axes, not positions": an axis indexed by a tensor; relative keys by distance: Shaw et al.
    2018, section 3.2.

    Example:
    ```mlir
    %y = tenon.gather %x[%ids] dim 0 x_dims [-1, 2] index_dims [0, 1] : tensor<50x8xf32>, tensor<2x3xi32> -> tensor<2x3x8xf32>
    ```
  }];
  let arguments = (ins Tenon_Tensor:$x, Tenon_IntTensor:$index, I64Attr:$dim, DenseI64ArrayAttr:$x_dims,
                   DenseI64ArrayAttr:$index_dims, UnitAttr:$clamp);
  let results = (outs Tenon_Tensor:$y);
  let assemblyFormat = "$x `[` $index `]` `dim` $dim `x_dims` $x_dims `index_dims` $index_dims (`clamp` $clamp^)? attr-dict `:` "
                       "type($x) `,` type($index) `->` type($y)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 0; // the rule of its type says it all
}
def Tenon_ScatterAddOp : Tenon_Op<"scatter_add", [Pure, DeclareOpInterfaceMethods<ElementOpInterface>,
                                                  DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                                  DeclareOpInterfaceMethods<KernelOpInterface,
                                                                            ["overwritable", "startsFrom", "parallelDomain",
                                                                             "countBytes"]>]> {
  let summary = "sums elements into the places an index tensor names: the transpose of gather";
  let description = [{
    Formula: `dx = sum over i of dy[i] at the place of x that gather reads for i`; places never named are 0. The order of
    summation is the row-major order of dy, so the bits do not depend on threads. With `onto` a tensor of the type of dx the sum
    starts from it, and the planner lets dx take its place, so that rows nobody names are not touched.

    | operand | shape | dtype |
    |---|---|---|
    | dy | any | real, as dx |
    | index | sizes as dy at index_dims | integer, 0 .. size of `dim` - 1 |
    | base | as dx | as dx, optional |

    Constraints: those of gather, dy in the place of y; C5 the tensor of `onto` has the type of dx.

    Gradient: of dy it is the gather, of the tensor of `onto` the gradient of dx.

    Source: the transpose of `tenon.gather`.

    Example:
    ```mlir
    %dx = tenon.scatter_add %dy[%ids] dim 0 x_dims [-1, 2] index_dims [0, 1]
      : tensor<2x3x8xf32>, tensor<2x3xi32> -> tensor<50x8xf32>
    ```
  }];
  let arguments = (ins Tenon_RealTensor:$dy, Tenon_IntTensor:$index, Optional<Tenon_RealTensor>:$base, I64Attr:$dim,
                   DenseI64ArrayAttr:$x_dims, DenseI64ArrayAttr:$index_dims, UnitAttr:$clamp);
  let results = (outs Tenon_RealTensor:$dx);
  let assemblyFormat = "$dy `[` $index `]` (`onto` $base^ `:` type($base))? `dim` $dim `x_dims` $x_dims `index_dims` $index_dims "
                       "(`clamp` $clamp^)? attr-dict `:` type($dy) `,` type($index) `->` type($dx)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
#endif
