// Parameters, states, stacks, the results of an entry.
#ifndef TENON_STRUCTURE_OPS_TD
#define TENON_STRUCTURE_OPS_TD
include "TenonDialect.td"

def Tenon_ParameterOp : Tenon_Op<"parameter", [Symbol]> {
  let summary = "declares a parameter of the model";
  let description = [{
    Formula: none, a declaration at module level. `type` has the sizes of the stacks it lives in first, outermost first: none, one
    where it is `stacked`, `levels` where stacks are nested.

    | attribute | meaning |
    |---|---|
    | offset | its place in the arenas, in bytes |
    | stride | bytes from one stack element to the next |
    | stacked, levels | whether, and in how many stacks, it lives |
    | frozen; tenon.whole | it is not trained; beside `tenon.parameters`, its f32 lies in memory as f32, as f64 does |
    | lr, gradient, decay, clip, clip_group, frozen_at | what `tenon.optimize` does with it: one f64, or one per stack element |

    Constraints: C1 type has reals and numbers as sizes; C2 it has the sizes of its stacks: one or more `levels`; C3 an array of
    the optimizer has one value or one per stack element; C4 offset and stride are not negative, and
    the last stack element ends below byte 2^62; C5 `tenon.whole` has no value.

    Gradient: `tenon.write_gradient` stores it.

    Source: docs/language.md, section "Layers"; docs/artifact.md has the arenas.

    Example:
    ```mlir
    tenon.parameter @"blocks.*.wq.weight" : tensor<12x64x64xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Tenon_RealTensor>:$type,
                   DefaultValuedAttr<Tenon_Natural, "0">:$offset, DefaultValuedAttr<Tenon_Natural, "0">:$stride,
                   UnitAttr:$stacked, UnitAttr:$frozen, DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$levels);
  let assemblyFormat = "$sym_name (`stacked` $stacked^)? (`frozen` $frozen^)? attr-dict `:` $type";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many stacks it lives in, and their sizes.
    int64_t depthCount() { return getStacked() ? getLevels() : 0; }
    llvm::ArrayRef<int64_t> stackSizes() { return getType().getShape().take_front(depthCount()); }
    /// How many elements these stacks give it.
    int64_t stackElements();
  }];
}
def Tenon_ReadParameterOp : Tenon_Op<"read_parameter", [Pure, Tenon_Address, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                                            DeclareOpInterfaceMethods<MemoryOpInterface, ["placeOfResult"]>]> {
  let summary = "value of a parameter, or of its slice at the depths of the stacks around it";
  let description = [{
    Formula: `value = parameter[depths]`.

    | operand | shape | dtype |
    |---|---|---|
    | depths | index, one per stack it lives in | index |

    Constraints: C1 the parameter exists; C2 one depth per stack that it lives in; C3 value has its type without the sizes of
    these, with its elements or, of f32, those of `tenon.parameters`, or without it of `tenon.compute`: the copy; C4 a
    depth is that of a stack around whose height is a number, or a sum of such, times numbers: in rounds of several layers it is
    round * layers + place; C5 `remainder` stands on a value of i16, and on nothing else, of a parameter that lies in two halves
    (`tenon.remainders`): what rounding took, which only `tenon.join` reads; C6 one with tenon.panels is b of gemms with the
    same, or read by packs from them.

    Gradient: `tenon.write_gradient`.

    Source: docs/language.md, section "Layers".

    Example:
    ```mlir
    %w = tenon.read_parameter @emb : tensor<50x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, Variadic<Index>:$depths, UnitAttr:$remainder);
  let results = (outs Tenon_ParameterTensor:$value);
  let assemblyFormat = "$parameter (`[` $depths^ `]`)? (`remainder` $remainder^)? attr-dict `:` type($value)";
}
def Tenon_ReadLossScaleOp : Tenon_Op<"read_loss_scale", [Pure, Tenon_Address,
                                                             DeclareOpInterfaceMethods<MemoryOpInterface, ["placeOfResult"]>]> {
  let summary = "what the loss is multiplied by before its gradient is taken";
  let description = [{
    Formula: `scale` = the loss scale before this step, which `tenon.optimize` changes at its end (its settings scale_growth,
    scale_backoff, scale_every). The backward pass of f16 starts from it: gradients that 16 bits would take for 0 are kept.

    Constraints: C1 scale is a scalar of f32.

    Gradient: none, it is made by differentiation.

    Source: Micikevicius et al. 2018, section 3.2; torch.amp.GradScaler.

    Example:
    ```mlir
    %s = tenon.read_loss_scale : tensor<f32>
    ```
  }];
  let results = (outs Tenon_RealTensor:$scale);
  let assemblyFormat = "attr-dict `:` type($scale)";
  let hasVerifier = 1;
}
def Tenon_WriteGradientOp : Tenon_Op<"write_gradient", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                                            DeclareOpInterfaceMethods<MemoryOpInterface, ["delivery"]>]> {
  let summary = "stores the gradient of a parameter, or of its slice at a depth";
  let description = [{
    Formula: `gradient of parameter[depths] = gradient`. Each parameter (each depth of it) that the step trains is written exactly
    once.

    | operand | shape | dtype |
    |---|---|---|
    | depths | index, one per stack it lives in | index |
    | gradient | as the value read | as the value read |

    Constraints: those of `tenon.read_parameter`, gradient in the place of value; C5 the parameter is not frozen.

    Gradient: none, it has no results.

    Source: Griewank & Walther 2008, chapter 3: the adjoint of an independent variable.

    Example:
    ```mlir
    tenon.write_gradient @emb, %g : tensor<50x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, Variadic<Index>:$depths, Tenon_RealTensor:$gradient);
  let assemblyFormat = "$parameter (`[` $depths^ `]`)? `,` $gradient attr-dict `:` type($gradient)";
}
def Tenon_ReadStateOp : Tenon_Op<"read_state", [Pure, Tenon_Address,
                                                    DeclareOpInterfaceMethods<MemoryOpInterface, ["placeOfResult"]>]> {
  let summary = "old value of state number `index` of the entry, or of its slice at a depth";
  let description = [{
    Formula: `value = state[depths]`, as it was before the run. Of a state that is kept in place (`tenon.append_state`) only the
    rows before the position are read.

    | operand | shape | dtype |
    |---|---|---|
    | depths | index, one per stack around it | index |

    Constraints: C1 the entry has a state of this number (its attribute `tenon.states` has their types); C2 value has its type
    without one leading size per depth; C3 depths are as in `tenon.read_parameter`.

    Gradient: none, states carry none.

    Source: Dai et al. 2019, section 3.2: memory of the last segment, without gradient.

    Example:
    ```mlir
    %m = tenon.read_state 0 : tensor<2x4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_Natural:$index, Variadic<Index>:$depths);
  let results = (outs Tenon_Tensor:$value);
  let assemblyFormat = "$index (`[` $depths^ `]`)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}
def Tenon_WriteStateOp : Tenon_Op<"write_state", [DeclareOpInterfaceMethods<MemoryOpInterface, ["delivery"]>]> {
  let summary = "new value of state number `index` of the entry, or of its slice at a depth";
  let description = [{
    Formula: `state[depths] = value`, for the next run. Written once per run and depth; reads see the old value.

    | operand | shape | dtype |
    |---|---|---|
    | depths | index, one per stack around it | index |
    | value | as the state | as the state |

    Constraints: those of `tenon.read_state`.

    Gradient: none, states carry none.

    Source: Dai et al. 2019, section 3.2.

    Example:
    ```mlir
    tenon.write_state 0, %m : tensor<2x4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_Natural:$index, Variadic<Index>:$depths, Tenon_Tensor:$value);
  let assemblyFormat = "$index (`[` $depths^ `]`)? `,` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}
def Tenon_AppendStateOp : Tenon_Op<"append_state",
                                   [DeclareOpInterfaceMethods<MemoryOpInterface, ["placeOfResult"]>,
                                    DeclareOpInterfaceMethods<KernelOpInterface, ["parallelDomain", "countBytes"]>]> {
  let summary = "writes rows into a state that is kept in place, and gives the whole state";
  let description = [{
    Formula: `whole[.., position + i, ..] = rows[.., i, ..]`, elsewhere the old state.

    | operand | shape | dtype |
    |---|---|---|
    | rows | as whole, n instead of the size along dim | as whole |
    | position | scalar | integer, 0 <= position <= size - n |

    State number `index` of the entry (its slice at a depth) is not swapped with a next state: rows `position` .. `position` + n -
    1 along dimension `dim` are written, where n is the size of `rows` along it, the others stay as they are. `whole` is the state
    afterwards. What is read of it lies behind this op, by its result.

    Constraints: C1 dim exists; C2 rows and whole agree but along dim; C3 one element type; C4 position is a scalar; C5 the entry
    has a state of this number; C6 whole has its type without one leading size per depth; C7 depths are as in
    `tenon.read_parameter`.

    Gradient: none, states carry none.

    Source: Shazeer 2019, section 2.4: keys and values of one more token.

    Example:
    ```mlir
    %keys = tenon.append_state 0, %rows at %position dim 1 : tensor<2x3x8xf32>, tensor<i32> -> tensor<2x16x8xf32>
    ```
  }];
  let arguments = (ins Tenon_Natural:$index, Variadic<Index>:$depths, Tenon_Tensor:$rows, Tenon_IntTensor:$position,
                   Tenon_Natural:$dim);
  let results = (outs Tenon_Tensor:$whole);
  let assemblyFormat = "$index (`[` $depths^ `]`)? `,` $rows `at` $position `dim` $dim attr-dict `:` type($rows) `,` "
                       "type($position) `->` type($whole)";
  let hasVerifier = 1;
}
def Tenon_StackOp : Tenon_Op<"stack", [SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "a loop: one body, run `count` times, as a stack of layers or a recurrence";
  let description = [{
    Formula: `(c_(d+1), saved_d) = body(d, c_d)` for d = first .. first + count - 1.

    | attribute | meaning |
    |---|---|
    | count | a number, or a form over the dims: the places of a recurrence |
    | first | the lowest depth |

    | operand | shape | dtype |
    |---|---|---|
    | carries | any | any |

    The body takes the depth and the carries and yields new carries, then saved values. Results: the last carries, then each saved
    value stacked along a new first dimension of size `count`. Depths are `first` to first+count-1: where an `if depth` makes
    layers of a stack different, runs of equal ones are a stack each. It may use values from outside (constants along the depth).
    `reverse` runs from the last depth down to the first: a reverse-mode loop over the saved values of a forward one. Never
    unrolled: law 2.

    Constraints: C1 block arguments are the depth and the carries; C2 results are the carries with their types, then saved values;
    C3 yielded are as many tensors, the carries with their types; C4 a stacked result is the saved type with `count` in front; C5
    first and count are not negative; C6 count is one form over the dims of the entry.

    Gradient: a `stack` in reverse; saved values are chosen by the differentiation pass.

    Source: Vaswani et al. 2017, section 3.1 (N layers of one kind); reversal: Griewank & Walther 2008, chapter 3.

    Example:
    ```mlir
    %y = tenon.stack 12 (%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>) {
    ^bb0(%depth: index, %h: tensor<4x8xf32>):
      %n = tenon.tanh %h : tensor<4x8xf32>
      tenon.yield %n : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins AffineMapAttr:$count, Variadic<Tenon_Tensor>:$carries, UnitAttr:$reverse,
                   DefaultValuedAttr<Tenon_Natural, "0">:$first);
  let results = (outs Variadic<Tenon_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<Count>($count) (`from` $first^)? (`reverse` $reverse^)? `(` $carries `)` `:` "
                       "functional-type($carries, $results) attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let builders = [OpBuilder<(ins "mlir::TypeRange":$results, "int64_t":$count, "mlir::ValueRange":$carries,
                             CArg<"bool", "false">:$reverse, CArg<"int64_t", "0">:$first)>];
  let extraClassDeclaration = [{
    /// How often the body runs, over the dims of the entry.
    mlir::AffineExpr countForm() { return getCount().getResult(0); }
    /// nullopt: known at run time only.
    std::optional<int64_t> countNumber() {
      auto number = mlir::dyn_cast<mlir::AffineConstantExpr>(countForm());
      return number ? std::optional(number.getValue()) : std::nullopt;
    }
    /// The type of what a value of the body becomes when it is kept of every depth.
    mlir::RankedTensorType stacked(mlir::RankedTensorType value);
  }];
}
def Tenon_YieldOp : Tenon_Op<"yield", [Terminator, Pure, ReturnLike, Tenon_ReadsMemory,
                                       ParentOneOf<["StackOp", "FoldOp", "GemmOp", "AttentionOp", "AttentionGradOp", "MapOp"]>]> {
  let summary = "values leaving a region of stack, fold, gemm, attention or map";
  let description = [{
    Formula: none, it ends a region. A stack takes the next carries, then the values that become stacked results; a fold takes the
    scalar that it reduces; a gemm takes none; the step of attention takes a score and its derivative; a map takes its element.

    | operand | shape | dtype |
    |---|---|---|
    | values | as the op around it wants | any |

    Constraints: C1 it ends a stack, a fold, a gemm, a step or place of attention or a map, which verifies what is yielded.

    Gradient: that of the stack around it.

    Source: MLIR's regions: control leaves by the last op of a block.

    Example:
    ```mlir
    %y = tenon.stack 12(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %n = tenon.tanh %h : tensor<4x8xf32> // %x: tensor<4x8xf32>
      tenon.yield %n : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ (void)$_builder, (void)$_state; }]>];
}
def Tenon_AtDepthOp : Tenon_Op<"at_depth", [Pure, Tenon_Address, InferTypeOpAdaptor,
                                            DeclareOpInterfaceMethods<MemoryOpInterface, ["partOf"]>,
                                            DeclareOpInterfaceMethods<ElementOpInterface>]> {
  let summary = "slice of a stacked value at a depth";
  let description = [{
    Formula: `y = x[depth - first]`.

    | operand | shape | dtype |
    |---|---|---|
    | x | [count] then as y | as y, remainders of a parameter, too |
    | depth | index, first .. first + count - 1 | index |

    Constraints: C1 x has the stacked dimension; y has the others; C2 first is not negative.

    Gradient: none of its own: the differentiation pass makes it, after stacks have been reversed.

    Source: Griewank & Walther 2008, chapter 3: a value of the tape, read on the way back.

    Example:
    ```mlir
    %y = tenon.at_depth %x[%depth] : tensor<12x4x8xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_StoredTensor:$x, Index:$depth, DefaultValuedAttr<Tenon_Natural, "0">:$first);
  let results = (outs Tenon_StoredTensor:$y);
  let assemblyFormat = "$x `[` $depth `]` (`from` $first^)? attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}
def Tenon_DepthValueOp : Tenon_Op<"depth_value", [Pure, Tenon_Source, DeclareOpInterfaceMethods<ElementOpInterface>]> {
  let summary = "the depth as a scalar tensor";
  let description = [{
    Formula: `y = depth`.

    | operand | shape | dtype |
    |---|---|---|
    | depth | index | index |

    Constraints: C1 y is a scalar.

    Gradient: none, y is an integer.

    Source: docs/language.md, section "Layers": the depth in an expression.

    Example:
    ```mlir
    %y = tenon.depth_value %depth : tensor<i32>
    ```
  }];
  let arguments = (ins Index:$depth);
  let results = (outs Tenon_IntTensor:$y);
  let assemblyFormat = "$depth attr-dict `:` type($y)";
  let hasVerifier = 1;
  let extraClassDeclaration = Tenon_ElementCost<"0">.method;
}
def Tenon_OutputOp : Tenon_Op<"output", [DeclareOpInterfaceMethods<MemoryOpInterface, ["delivery"]>]> {
  let summary = "result number `index` of the entry";
  let description = [{
    Formula: `result[index] = value`, stored dense and row-major into the caller's buffer.

    | operand | shape | dtype |
    |---|---|---|
    | value | any | any |

    Constraints: C1 it stands at the top of a function; C2 the outputs there have the numbers 0, 1, .. in this order.

    Gradient: output 0 of a train entry is what is differentiated; the others carry none.

    Source: docs/artifact.md.

    Example:
    ```mlir
    tenon.output 0 "logits", %y : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_Natural:$index, StrAttr:$name, Tenon_Tensor:$value);
  let hasVerifier = 1;
  let assemblyFormat = "$index $name `,` $value attr-dict `:` type($value)";
}
#endif
