// The schedule form: what of the kernel form has a place and an order. Loops carry nothing, what moves is a copy.
#ifndef TENON_SCHEDULE_OPS_TD
#define TENON_SCHEDULE_OPS_TD
include "TenonDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Tenon_Memory : I32EnumAttr<"Memory", "a memory that an entry reads or writes", [
    I32EnumAttrCase<"Parameters", 0, "parameters">, I32EnumAttrCase<"Gradients", 1, "gradients">,
    I32EnumAttrCase<"States", 2, "states">, I32EnumAttrCase<"NextStates", 3, "next_states">,
    I32EnumAttrCase<"KeptStates", 4, "kept_states">, I32EnumAttrCase<"Workspace", 5, "workspace">,
    I32EnumAttrCase<"Input", 6, "input">, I32EnumAttrCase<"Output", 7, "output">, I32EnumAttrCase<"Copies", 8, "copies">,
    I32EnumAttrCase<"LossScale", 9, "loss_scale">, I32EnumAttrCase<"Remainders", 10, "remainders">]> {
  let cppNamespace = "::tenon";
}

def Tenon_StepAttr : AttrDef<Tenon_Dialect, "Step"> {
  let mnemonic = "step";
  let summary = "how a place moves with a loop around it";
  let description = [{
    (index of the loop + shift) * bytes. Loops are counted from the outermost one of the entry; -1 is none: shift * bytes. `bytes`
    is the product of forms over the dims.
  }];
  let parameters = (ins "int64_t":$loop, "::mlir::AffineMap":$bytes, "int64_t":$shift);
  let assemblyFormat = "`<` $loop `,` $bytes `,` $shift `>`";
}
def Tenon_PlaceAttr : AttrDef<Tenon_Dialect, "Place"> {
  let mnemonic = "place";
  let summary = "where a dense row-major tensor lies";
  let description = [{
    A memory and in it a slot: for parameters (of 16 bits where the module has tenon.parameters), their remainders, their copies
    of 16 bits and gradients the byte in their arena, for states,
    workspace, inputs and outputs their number; the loss scale has slot 0. `steps` move it with the loops around.
  }];
  let parameters = (ins EnumParameter<Tenon_Memory>:$memory, "int64_t":$slot,
                    OptionalArrayRefParameter<"::tenon::StepAttr">:$steps);
  let assemblyFormat = "`<` $memory $slot (`,` `[` $steps^ `]`)? `>`";
}
def Tenon_SlotAttr : AttrDef<Tenon_Dialect, "Slot"> {
  let mnemonic = "slot";
  let summary = "a part of the workspace";
  let description = [{
    `bytes`, the product of forms over the dims; it lies above the slots `after`: its offset is the largest of their ends, on a
    cache line. `saved`: it lives from the forward into the backward pass; `temporary`: it belongs to the kernels of one op.
  }];
  let parameters = (ins "::mlir::AffineMap":$bytes, OptionalArrayRefParameter<"int64_t">:$after,
                    DefaultValuedParameter<"bool", "false">:$saved,
                        DefaultValuedParameter<"bool", "false">:$temporary);
  let assemblyFormat = "`<` $bytes (`after` `[` $after^ `]`)? (`saved` $saved^)? (`temporary` $temporary^)? `>`";
}

def Tenon_PlaceOp : Tenon_Op<"place", [Pure, Tenon_Address, Tenon_OfSchedule,
                                          DeclareOpInterfaceMethods<ScheduleOpInterface, ["placesNamed"]>]> {
  let summary = "the tensor at a place";
  let description = [{
    Formula: `value = memory at the place`, as it is when it is read.

    | attribute | meaning |
    |---|---|
    | place | memory, slot, steps over the loops around |

    Constraints: C1 steps name loops around the op.

    Gradient: none, places are given after differentiation.

    Source: docs/architecture.md, the schedule form.

    Example:
    ```mlir
    %w = tenon.place <parameters 1664> : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins Tenon_PlaceAttr:$place);
  let results = (outs Tenon_StoredTensor:$value);
  let assemblyFormat = "$place attr-dict `:` type($value)";
  let hasVerifier = 1;
}
def Tenon_CopyOp : Tenon_Op<"copy", [Tenon_OfSchedule,
                                     DeclareOpInterfaceMethods<ScheduleOpInterface, ["placesNamed", "placeWritten", "typeMoved",
                                                                                     "touchesOfElement"]>]> {
  let summary = "brings a tensor to a place";
  let description = [{
    Formula: `memory at the place = from`.

    | operand | shape | dtype |
    |---|---|---|
    | from | any | any |

    Constraints: C1 steps name loops around the op.

    Gradient: none, places are given after differentiation.

    Source: docs/architecture.md, the schedule form.

    Example:
    ```mlir
    tenon.copy %x to <output 0> : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_Tensor:$from, Tenon_PlaceAttr:$to);
  let assemblyFormat = "$from `to` $to attr-dict `:` type($from)";
  let hasVerifier = 1;
}
def Tenon_ReadyOp : Tenon_Op<"ready", [Tenon_OfSchedule, DeclareOpInterfaceMethods<ScheduleOpInterface, ["placesNamed"]>]> {
  let summary = "gradients are finished";
  let description = [{
    Formula: the gradients at `places` are final; they are group `number(indices)` of the entry.

    | operand | shape | dtype |
    |---|---|---|
    | indices | of the loops around, outermost first | index |

    | attribute | meaning |
    |---|---|
    | number | one form over the indices |
    | places | of the gradients that the op in front of it has written last |

    A group is what one launch finishes. Groups are numbered from 0 in the order in which a run finishes them, a loop
    counts on with each of its iterations. `TnContext::group_ready`, where a caller has set it, is called with the number.

    Constraints: C1 number is one form over the indices; C2 indices are those of all loops around; C3 places are in the
    memory of gradients, their steps name loops around the op.

    Gradient: none, places are given after differentiation.

    Source: the buckets of Li et al. 2020, "PyTorch Distributed".

    Example:
    ```mlir
    tenon.ready affine_map<() -> (0)>() [#tenon.place<gradients 1664>]
    ```
  }];
  let arguments = (ins AffineMapAttr:$number, Variadic<Index>:$indices, TypedArrayAttrBase<Tenon_PlaceAttr, "places">:$places);
  let assemblyFormat = "$number `(` $indices `)` $places attr-dict";
  let hasVerifier = 1;
}
def Tenon_SumSlicesOp : Tenon_Op<"sum_slices", [Tenon_OfSchedule,
                                                    DeclareOpInterfaceMethods<ScheduleOpInterface,
                                                                              ["placesNamed", "placeWritten", "typeMoved",
                                                                               "touchesOfElement", "flopsOfElement"]>]> {
  let summary = "adds the gradient of a slice to those of the slices before it";
  let description = [{
    Formula: `g = partial[l] + g` for each level l of TnContext::add_levels, the lowest first; then `partial[k] = g` for
    k = TnContext::keep_level, or, where k is -1, the memory at the place = g.

    | attribute | meaning |
    |---|---|
    | at | of the gradient of this slice |
    | of | its type |

    A recipe with `slices = n` defines the gradient of a batch as the sum of those of n slices of its rows in a fixed binary
    tree. Slices come one after the other, so that level l holds the sum of 2^l of them, as in a binary counter.

    Constraints: C1 the place is in the memory of gradients, its steps name loops around the op.

    Gradient: none, places are given after differentiation.

    Source: pairwise summation: Higham 1993, "The accuracy of floating point summation".

    Example:
    ```mlir
    tenon.sum_slices <gradients 1664> : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins Tenon_PlaceAttr:$at, TypeAttr:$of);
  let assemblyFormat = "$at attr-dict `:` $of";
  let hasVerifier = 1;
}
def Tenon_LoopOp : Tenon_Op<"loop", [SingleBlock, NoTerminator, Tenon_OfSchedule]> {
  let summary = "runs its body for each index";
  let description = [{
    Formula: `body(i)` for i = first .. first + count - 1, or from the last down to the first.

    | attribute | meaning |
    |---|---|
    | count | a number, or a form over the dims |
    | first | the lowest index |

    Nothing is carried: what a stack carries lies at places, and moves by `tenon.copy`.

    Constraints: C1 count is one form over the dims of the entry, not below 0; C2 the body takes one index.

    Gradient: none, loops are made after differentiation.

    Source: the loop of an imperative program: Wirth 1976, chapter 1.

    Example:
    ```mlir
    tenon.loop 12 {
    ^bb0(%depth: index):
      %h = tenon.place <workspace 0, [<0, () -> (128), 0>]> : tensor<4x8xf32>
      tenon.copy %h to <workspace 1> : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins AffineMapAttr:$count, DefaultValuedAttr<Tenon_Natural, "0">:$first, UnitAttr:$reverse);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<Count>($count) (`from` $first^)? (`reverse` $reverse^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}
#endif
