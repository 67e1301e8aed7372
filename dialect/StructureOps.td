// Parameters, states, stacks, the results of an entry, the optimizer.
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
    | frozen | it is not trained |
    | lr, gradient, decay, clip, clip_group, frozen_at | what `tenon.optimize` does with it: one f64, or one per stack element |

    Constraints: C1 type has reals and numbers as sizes; C2 it has the sizes of its stacks: one or more `levels`; C3 an array of
    the optimizer has one value or one per stack element; C4 offset and stride are not negative.

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
def Tenon_ReadParameterOp : Tenon_Op<"read_parameter", [Pure, Tenon_Address, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "value of a parameter, or of its slice at the depths of the stacks around it";
  let description = [{
    Formula: `value = parameter[depths]`.

    | operand | shape | dtype |
    |---|---|---|
    | depths | index, one per stack it lives in | index |

    Constraints: C1 the parameter exists; C2 one depth per stack that it lives in; C3 value has its type without the sizes of
    these, with elements of f32, of the module's `tenon.parameters`, or without it of `tenon.compute`: then it is the copy; C4 a
    depth is that of a stack around whose height is a number, or a sum of such, times numbers: in rounds of several layers it is
    round * layers + place; C5 `remainder` stands on a value of `tenon.parameters` in a module with `tenon.remainders`: the value
    is the remainder of the parameter then, which only `tenon.join` reads; C6 one with tenon.panels is b of gemms with the same.

    Gradient: `tenon.write_gradient`.

    Source: docs/language.md, section "Layers".

    Example:
    ```mlir
    %w = tenon.read_parameter @emb : tensor<50x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, Variadic<Index>:$depths, UnitAttr:$remainder);
  let results = (outs Tenon_RealTensor:$value);
  let assemblyFormat = "$parameter (`[` $depths^ `]`)? (`remainder` $remainder^)? attr-dict `:` type($value)";
}
def Tenon_ReadLossScaleOp : Tenon_Op<"read_loss_scale", [Pure, Tenon_Address]> {
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
def Tenon_WriteGradientOp : Tenon_Op<"write_gradient", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
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
def Tenon_ReadStateOp : Tenon_Op<"read_state", [Pure, Tenon_Address]> {
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
def Tenon_WriteStateOp : Tenon_Op<"write_state"> {
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
                                   [DeclareOpInterfaceMethods<KernelOpInterface, ["parallelDomain", "countBytes"]>]> {
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
                                       ParentOneOf<["StackOp", "FoldOp", "GemmOp", "AttentionOp", "AttentionGradOp"]>]> {
  let summary = "values leaving a region of stack, fold, gemm or attention";
  let description = [{
    Formula: none, it ends a region. A stack takes the next carries, then the values that become stacked results; a fold takes the
    scalar that it reduces; a gemm takes none; the step of attention takes a score and its derivative.

    | operand | shape | dtype |
    |---|---|---|
    | values | as the op around it wants | any |

    Constraints: C1 it ends a stack, a fold, a gemm or a step of attention, which verifies what is yielded.

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
                                            DeclareOpInterfaceMethods<ElementOpInterface>]> {
  let summary = "slice of a stacked value at a depth";
  let description = [{
    Formula: `y = x[depth - first]`.

    | operand | shape | dtype |
    |---|---|---|
    | x | [count] then as y | as y |
    | depth | index, first .. first + count - 1 | index |

    Constraints: C1 x has the stacked dimension; y has the others; C2 first is not negative.

    Gradient: none of its own: the differentiation pass makes it, after stacks have been reversed.

    Source: Griewank & Walther 2008, chapter 3: a value of the tape, read on the way back.

    Example:
    ```mlir
    %y = tenon.at_depth %x[%depth] : tensor<12x4x8xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_Tensor:$x, Index:$depth, DefaultValuedAttr<Tenon_Natural, "0">:$first);
  let results = (outs Tenon_Tensor:$y);
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
def Tenon_OutputOp : Tenon_Op<"output"> {
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
def Tenon_OptimizeOp : Tenon_Op<"optimize", [DeclareOpInterfaceMethods<KernelOpInterface, ["parallelDomain", "countBytes"]>]> {
  let summary = "clips the gradients, takes one optimizer step over the arenas";
  let description = [{
    Formula: with the gradient g of a parameter x, after clipping, and moments that start at 0: `m = beta1 m + (1 - beta1) g`,
    `v = beta2 v + (1 - beta2) g^2` or `max(beta2 v, |g| + eps)`, direction `r = m / (sqrt(v) + eps)` or `m / v`,
    `x -= rate ratio r`. How a rule corrects moments for their start, where its decay comes in and what its ratio is, says its
    row of the table `frontend/recipes/OptimizerRules.cpp`; `docs/recipes.md` has each as a formula.

    | attribute | meaning |
    |---|---|
    | rule | a row of the table |
    | settings | those of the rule and of its schedule, by their names, and those below |

    All gradients have been written. Settings are numbers unless said; what is not there is the table's default. `betas` is
    beta1 and beta2, `form` a name, `nesterov` a truth value.

    | key | default | meaning |
    |---|---|---|
    | lr | required | rate before the schedule |
    | clip | 0: none | bound c of the norm n of all gradients but those with a `clip` of their own: times min(1, c / (n + 1e-6)) |
    | clip_tensor | 0: none | the same, of the norm of each tensor alone; a layer of a stack is a tensor of its own |
    | clip_value, clip_tf | 0: none | elements without a `clip` of their own are brought into [-c, c]; no 1e-6 beside norms |
    | accumulate | 1 | TnContext::step counts batches, and k of them make an update, by the mean of their gradients |
    | schedule | "constant" | a row of the table's schedules; s = step counts updates from 0 |
    | at_start | false | the schedule's length is TnContext::total_steps |
    | warmup_share, every_share | none | warmup, every are this share of the length |
    | scale_growth, scale_backoff, scale_every | none | the gradients are those of the loss times the loss scale |

    With a loss scale z (`tenon.read_loss_scale`) gradients are divided by it before all else, norms too. A step whose norm is
    finite counts as good; after scale_every good ones z is multiplied by scale_growth and the count begins anew. After one whose
    norm is not finite it is multiplied by scale_backoff, and the count begins anew. z stays within 2^-96 and 2^96.

    Attributes of a `tenon.parameter`, arrays of one value or one per stack element: `lr` and
    `gradient` (factors; that of the gradient after clipping), `decay` (instead of the setting), `clip` and `clip_group` (bound of
    the norm of what has the same group and the same bound, instead of the setting; NaN: the setting), `frozen_at` (1: this
    element keeps its value). Frozen parameters take no part, neither in norms. One pass over the arenas: gradient, moments and
    parameter are read and written once; a rule with a ratio per tensor has a second pass, for the norms of the first are needed
    there. Results: the norm of all gradients before clipping (0 where an update waits for further
    batches) and the learning rate of this step, f64.

    Constraints: C1 rule, form and schedule are among those of the table; C2 settings are those of the rule, of the schedule and
    of the table above, each of its kind; C3 lr is there; C4 accumulate is 1 or more; C5 a schedule that ends does so after its
    warmup, unless the run says how long it is; C6 settings that the table requires of a schedule are there and positive; C7 the
    results are f64 scalars; C8 the settings of a loss scale are there together: growth of 1 or more, backoff of more than 0 and
    up to 1, every of 1 or more.

    Gradient: none, it is the end of a step.

    Source: those of the table's rows.

    Example:
    ```mlir
    %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3}} : tensor<f64>, tensor<f64>
    ```
  }];
  let arguments = (ins StrAttr:$rule, DictionaryAttr:$settings);
  let results = (outs Tenon_RealTensor:$norm, Tenon_RealTensor:$rate);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// A setting, or `otherwise` where it is not there.
    double number(llvm::StringRef key, double otherwise);
    bool isSet(llvm::StringRef key);
    llvm::StringRef schedule();
    /// Batches whose gradients make one update.
    int64_t accumulate() { return int64_t(number("accumulate", 1)); }
    /// The gradients are those of the loss times the loss scale.
    bool isScaled() { return bool(getSettings().get("scale_growth")); }
    /// The schedule's length is TnContext::total_steps.
    bool lengthAtStart() { return isSet("at_start"); }
  }];
  let assemblyFormat = "$rule attr-dict `:` type($norm) `,` type($rate)";
}
#endif
