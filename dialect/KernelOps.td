// The kernel form: a linear program of a few kernels on tensors, with scalar code in their regions.
#ifndef TENON_KERNEL_OPS_TD
#define TENON_KERNEL_OPS_TD
include "TenonDialect.td"

def Tenon_NestOp : Tenon_Op<"nest", [SingleBlock, NoTerminator, Tenon_PutsResults,
                                     DeclareOpInterfaceMethods<KernelOpInterface,
                                                               ["tensorsRead", "overwritable", "parallelDomain",
                                                                "countBytes"]>]> {
  let summary = "a loop nest: elementwise work and reductions along rows, fused";
  let description = [{
    Formula: `for rows: body`.

    | attribute | meaning |
    |---|---|
    | rows | sizes of the parallel domain, linear forms |

    The body runs for every index of the parallel domain `rows` (sizes as linear forms over the dims; the block arguments are the
    indices). It computes scalars (arith, math, `tenon.at`, `tenon.fold`, `tenon.random_keep`), stores them with `tenon.put`, and
    repeats work along inner dimensions with `tenon.each`. Every element of every result is put exactly once. Reductions run over
    16 virtual lanes and are combined in a fixed tree.

    Constraints: C1 rows are forms over the dims of the entry, none below 0; C2 the block arguments are one index per size; C3
    each result has a put. That every element is put, and inside, is not verified.

    Gradient: none, kernels are made after differentiation.

    Source: loop fusion as in Kennedy & McKinley 1993; row reductions inside: Milakov & Gimelshein 2018.

    Example:
    ```mlir
    %y = tenon.nest affine_map<() -> (4)> : tensor<4x8xf32> {
    ^bb0(%i: index):
      tenon.each affine_map<() -> (8)> {
      ^bb0(%j: index):
        %e = tenon.at %x[%i, %j] : tensor<4x8xf32> -> f32 // %x: tensor<4x8xf32>
        %s = arith.mulf %e, %e : f32
        tenon.put 0 [%i, %j], %s : f32
      }
    }
    ```
  }];
  let arguments = (ins AffineMapAttr:$rows);
  let results = (outs Variadic<Tenon_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$rows `:` type($results) attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}
def Tenon_RowIfOp : Tenon_Op<"row_if", [ParentOneOf<["NestOp"]>]> {
  let summary = "ends the code of a row of a nest where a condition fails";
  let description = [{
    Formula: `if not condition: next row`.

    | operand | shape | dtype |
    |---|---|---|
    | condition | scalar | truth value |

    Nothing reads what is put behind it in a row where the condition fails: a target may leave it as it is there, or put it all
    the same.

    Constraints: C1 it lies in a nest, outside of its inner loops.

    Gradient: none, kernels are made after differentiation.

    Source: predication of rows; Shazeer et al. 2017, section 2: experts that get no example cost nothing.

    Example:
    ```mlir
    %y = tenon.nest affine_map<() -> (4)> : tensor<4x8xf32> {
    ^bb0(%i: index):
      %c = tenon.at %chosen[%i] : tensor<4xi1> -> i1 // %chosen: tensor<4xi1>
      tenon.row_if %c
      tenon.each affine_map<() -> (8)> {
      ^bb0(%j: index):
        %e = tenon.at %x[%i, %j] : tensor<4x8xf32> -> f32 // %x: tensor<4x8xf32>
        tenon.put 0 [%i, %j], %e : f32
      }
    }
    ```
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}
def Tenon_EachOp : Tenon_Op<"each", [SingleBlock, NoTerminator, ParentOneOf<["NestOp", "EachOp"]>, InnerLoopOpInterface]> {
  let summary = "repeats its body along inner dimensions of a nest; the last one is the vector dimension";
  let description = [{
    Formula: `for sizes: body`.

    | attribute | meaning |
    |---|---|
    | sizes | sizes of the inner dimensions, linear forms |

    The block arguments are the indices, after those of the nest around it. Bodies beside each other run one after the other, so
    that a later one may read by `tenon.fold` what rows need first.

    Constraints: C1 it lies in a nest or an each; C2 sizes are forms over the dims of the entry, none below 0; C3 the block
    arguments are one index per size.

    Gradient: none, kernels are made after differentiation.

    Source: as for `tenon.nest`.

    Example:
    ```mlir
    %y = tenon.nest affine_map<() -> (4)> : tensor<4x8xf32> {
    ^bb0(%i: index):
      %scale = tenon.at %row[%i] : tensor<4xf32> -> f32 // %row: tensor<4xf32>
      tenon.each affine_map<() -> (8)> {
      ^bb0(%j: index):
        tenon.put 0 [%i, %j], %scale : f32
      }
    }
    ```
  }];
  let arguments = (ins AffineMapAttr:$sizes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sizes attr-dict-with-keyword $body";
  let hasVerifier = 1;
}
def Tenon_FoldOp : Tenon_Op<"fold", [Pure, SingleBlock, ParentOneOf<["NestOp", "EachOp", "FoldOp", "GemmOp"]>,
                                     InnerLoopOpInterface]> {
  let summary = "reduces the yielded scalar over inner dimensions";
  let description = [{
    Formula: `value = kind over all indices of the yielded scalar`. Outside `each` the last dimension is the vector dimension (16
    virtual lanes, fixed tree); inside `each` it is a sequential loop.

    | attribute | meaning |
    |---|---|
    | kind | sum, max, min, all, any |
    | sizes | sizes of the inner dimensions, linear forms |

    Constraints: C1 it lies in a kernel; C2 sizes are one or more forms over the dims of the entry, none below 0; C3 the block
    arguments are one index per size; C4 the body yields one scalar of the type of value; C5 all, any take truth values, the rest
    numbers.

    Gradient: none, kernels are made after differentiation.

    Source: pairwise summation, Higham 1993: a tree over lanes instead of one chain.

    Example:
    ```mlir
    %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
    ^bb0(%i: index):
      %sum = tenon.fold sum affine_map<() -> (8)> : f32 {
      ^bb0(%j: index):
        %e = tenon.at %x[%i, %j] : tensor<4x8xf32> -> f32 // %x: tensor<4x8xf32>
        tenon.yield %e : f32
      }
      tenon.put 0 [%i], %sum : f32
    }
    ```
  }];
  let arguments = (ins Tenon_Reduction:$kind, AffineMapAttr:$sizes);
  let results = (outs Tenon_Scalar:$value);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind $sizes `:` type($value) attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}
def Tenon_AtOp : Tenon_Op<"at", [Pure, InferTypeOpAdaptor]> {
  let summary = "one element of a tensor";
  let description = [{
    Formula: `element = tensor[indices]`, in scalar code of a kernel. As many indices as the tensor has dimensions; they are
    inside it.

    | operand | shape | dtype |
    |---|---|---|
    | tensor | any | any |
    | indices | one per dimension | index |

    Constraints: C1 one index per dimension.

    Gradient: none, kernels are made after differentiation.

    Source: MLIR's `tensor.extract`, kept apart because these reads become vector loads.

    Example:
    ```mlir
    %e = tenon.at %x[%i, %j] : tensor<4x8xf32> -> f32 // %x: tensor<4x8xf32> %i: index %j: index
    ```
  }];
  let arguments = (ins Tenon_StoredTensor:$tensor, Variadic<Index>:$indices);
  let results = (outs Tenon_StoredScalar:$element);
  let assemblyFormat = "$tensor `[` $indices `]` attr-dict `:` type($tensor) `->` type($element)";
  let hasFolder = 1;
}
def Tenon_SizeValueOp : Tenon_Op<"size_value", [Pure]> {
  let summary = "a linear form of the dims, as an index in scalar code";
  let description = [{
    Formula: `value = form(dims of the entry)`.

    | attribute | meaning |
    |---|---|
    | form | linear form of the dims of the entry |

    Constraints: C1 one form, over the dims of the entry.

    Gradient: none, kernels are made after differentiation.

    Source: docs/language.md, section "Axes, not positions".

    Example:
    ```mlir
    %n = tenon.size_value affine_map<() -> (150)>
    ```
  }];
  let arguments = (ins AffineMapAttr:$form);
  let results = (outs Index:$value);
  let assemblyFormat = "$form attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Tenon_PutOp : Tenon_Op<"put"> {
  let summary = "stores one element of result number `result` of the enclosing kernel";
  let description = [{
    Formula: `result[indices] = element`.

    | operand | shape | dtype |
    |---|---|---|
    | indices | one per dimension of the result | index |
    | element | scalar | as the result |

    Each element of each result is put exactly once. The indices are those of the result, which need not be in the order of the
    kernel's own. A result may lie where an operand lies that is read before it is put, at the same indices.

    Constraints: C1 it lies in a nest (perhaps in an each there) or a gemm; C2 that has a result of this number; C3 one index per
    dimension of the result; C4 the element has its element type.

    Gradient: none, kernels are made after differentiation.

    Source: destination passing, as in Shaikhha et al. 2017.

    Example:
    ```mlir
    %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
    ^bb0(%i: index):
      %e = tenon.at %x[%i] : tensor<4xf32> -> f32 // %x: tensor<4xf32>
      tenon.put 0 [%i], %e : f32
    }
    ```
  }];
  let arguments = (ins Tenon_Natural:$result, Variadic<Index>:$indices, Tenon_Scalar:$element);
  let assemblyFormat = "$result `[` $indices `]` `,` $element attr-dict `:` type($element)";
  let hasVerifier = 1;
}
def Tenon_RandomKeepOp : Tenon_Op<"random_keep", [Pure, DeclareOpInterfaceMethods<DrawOpInterface, ["leavesOut"]>]> {
  let summary = "whether an element survives a dropout";
  let description = [{
    Formula: `keep = random16(seed, step, site, depth, index) >= threshold`.

    | operand | shape | dtype |
    |---|---|---|
    | index | index | index |
    | depth | index of the stack, optional | index |

    With e the logical index: Philox 4x32-10, key (seed), counter words (16 (e div
    128) + e mod 16, step, site, depth); the eight 16-bit values of the four words, low half first, belong to (e div 16) mod 8.
    Sixteen neighbours thus share one vector evaluation.

    Constraints: C1 0 <= threshold <= 65536; C2 site is a number of 32 bits.

    Gradient: none, kernels are made after differentiation.

    Source: Salmon et al. 2011 (Philox 4x32-10).

    Example:
    ```mlir
    %keep = tenon.random_keep %e site 3 threshold 6554 // %e: index
    ```
  }];
  let arguments = (ins Index:$index, Optional<Index>:$depth, Tenon_Site:$site,
                   ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<65536>]>:$threshold);
  let results = (outs I1:$keep);
  let assemblyFormat = "$index (`depth` $depth^)? `site` $site `threshold` $threshold attr-dict";
  let hasFolder = 1;
}
def Tenon_RandomBitsOp : Tenon_Op<"random_bits", [Pure, DeclareOpInterfaceMethods<DrawOpInterface>]> {
  let summary = "32 random bits of an element";
  let description = [{
    Formula: `bits = random32(seed, step, site, depth, index)`.

    | operand | shape | dtype |
    |---|---|---|
    | index | index | index |
    | depth | index of the stack, optional | index |

    With e the index: Philox 4x32-10, key (seed), counter words (16 (e div 64) + e mod 16, step, site, depth); word (e div 16)
    mod 4. Sixteen neighbours thus share one vector evaluation.

    Constraints: C1 site is a number of 32 bits.

    Gradient: none, kernels are made after differentiation.

    Source: Salmon et al. 2011 (Philox 4x32-10).

    Example:
    ```mlir
    %bits = tenon.random_bits %e site 3 // %e: index
    ```
  }];
  let arguments = (ins Index:$index, Optional<Index>:$depth, Tenon_Site:$site);
  let results = (outs I32:$bits);
  let assemblyFormat = "$index (`depth` $depth^)? `site` $site attr-dict";
}
def Tenon_GemmOp : Tenon_Op<"gemm", [SingleBlockImplicitTerminator<"YieldOp">, AttrSizedOperandSegments, Tenon_PutsResults,
                                     DeclareOpInterfaceMethods<KernelOpInterface,
                                                               ["tensorsRead", "parallelDomain", "countBytes", "panelRead"]>]> {
  let summary = "contraction with fused prologues and epilogue";
  let description = [{
    Formula: `sum_ij = sum over labels >= rank of a b`, then `body(i, j, sum_ij)`.

    | operand | shape | dtype |
    |---|---|---|
    | a, b | one label per dimension | real; left out where a region computes its elements |

    Labels as in `tenon.dot` over the index space whose first `rank` labels are the result dimensions. The body takes the indices
    of the result dimensions and the contracted sum; it puts the results (each of which has all those dimensions, in any order
    stated by its put). K is one sequential chain of fused multiply-adds per element.

    An operand that nothing else reads need not exist in memory: a region of its own takes the indices of its dimensions and
    yields the element (a gather, a pad, two tensors joined, a scale). Targets compute it block by block where they would pack
    it, maybe several times. With `tenon.panels` b lies in panels, as weights do, or as a `tenon.pack` makes them. With
    `rest_unread`, a truth value per result, nothing reads those results where a condition makes all of an operand to 0: targets
    may leave them as they are there.

    Constraints: C1 one label per dimension, from 0 on, different within an operand; C2 equal labels have equal sizes, labels
    below rank occur in an operand, the others in both; C3 a and b have one element type; C4 each result has the dimensions below
    rank, in some order; C5 the block arguments are an index for each of these and the sum, of the type that elements of a are
    computed in; C6 the body yields nothing; C7 each result has a put; C8 each operand is a tensor or has a type and a region
    whose block arguments are an index per dimension and which yields one scalar of its element type;
    C9 rest_unread has a truth value for each result.

    Gradient: none, kernels are made after differentiation.

    Source: Goto & van de Geijn 2008 (blocks and packing).

    Example:
    ```mlir
    %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      %bias = tenon.at %c[%j] : tensor<6xf32> -> f32 // %a: tensor<4x8xf32> %b: tensor<6x8xf32> %c: tensor<6xf32>
      %z = arith.addf %sum, %bias : f32
      tenon.put 0 [%i, %j], %z : f32
    }
    %t = tenon.gemm element[0, 2], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    } a {
    ^bb0(%i: index, %k: index):
      %e = tenon.at %a[%i, %k] : tensor<4x8xf32> -> f32
      %s = arith.mulf %e, %e : f32
      tenon.yield %s : f32
    }
    ```
  }];
  let arguments = (ins Optional<Tenon_RealTensor>:$a, Optional<Tenon_RealTensor>:$b, DenseI64ArrayAttr:$a_labels,
                   DenseI64ArrayAttr:$b_labels, Tenon_Natural:$rank, OptionalAttr<TypeAttrOf<Tenon_RealTensor>>:$a_type,
                   OptionalAttr<TypeAttrOf<Tenon_RealTensor>>:$b_type, OptionalAttr<DenseBoolArrayAttr>:$rest_unread);
  let results = (outs Variadic<Tenon_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body, MaxSizedRegion<1>:$a_element, MaxSizedRegion<1>:$b_element);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Of the operands, whether they are in memory or computed.
    mlir::RankedTensorType typeOfA() { return typeOf(getA(), getAType()); }
    mlir::RankedTensorType typeOfB() { return typeOf(getB(), getBType()); }
    /// The code of one element; null: the operand is in memory.
    mlir::Block *elementOfA() { return getAElement().empty() ? nullptr : &getAElement().front(); }
    mlir::Block *elementOfB() { return getBElement().empty() ? nullptr : &getBElement().front(); }

  private:
    static mlir::RankedTensorType typeOf(mlir::Value tensor, std::optional<mlir::Type> computed) {
      return mlir::cast<mlir::RankedTensorType>(tensor ? tensor.getType() : *computed);
    }

  public:
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}
#endif
