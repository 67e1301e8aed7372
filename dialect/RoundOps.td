// Rounds of a loop that do not run.
#ifndef TENON_ROUND_OPS_TD
#define TENON_ROUND_OPS_TD
include "TenonDialect.td"

def Tenon_SkipOp : Tenon_Op<"skip", [Tenon_ReadsMemory, DeclareOpInterfaceMethods<ScheduleOpInterface>,
                                        ParentOneOf<["StackOp", "LoopOp"]>]> {
  let summary = "ends a round of a stack";
  let description = [{
    Formula: where `when` is true, what stands behind it does not run in this round: the carries keep their values, and what the
    round would have saved has no contents.

    | operand | shape | dtype |
    |---|---|---|
    | when | scalar | bool |
    | rounds | scalar | integer |

    `rounds` is a carry that counts the rounds that ran: it starts at the first depth of the stack and is 1 more behind each. The
    rounds that run are the first ones, so that depths from its result on did not run.

    Constraints: C1 it stands in the body of a stack, or of the loop that a stack becomes; C2 `when` is a scalar; C3 `rounds` is a
    scalar, in a stack a carry of it.

    Gradient: none of its own: the reversed stack skips the rounds that did not run, by the last value of `rounds`.

    Source: `continue` of an imperative loop; the loop that is over when all have halted: Graves 2016, section 2.

    Example:
    ```mlir
    %y = tenon.stack 12(%x) : (tensor<i1>) -> tensor<i1> {
    ^bb0(%d: index, %h: tensor<i1>):
      tenon.skip %h : tensor<i1> // %x: tensor<i1>
      %n = tenon.not %h : tensor<i1>
      tenon.yield %n : tensor<i1>
    }
    ```
  }];
  let arguments = (ins Tenon_BoolTensor:$when, Optional<Tenon_IntTensor>:$rounds);
  let assemblyFormat = "$when (`counts` $rounds^)? attr-dict `:` type($when) (`,` type($rounds)^)?";
  let hasVerifier = 1;
}
#endif
