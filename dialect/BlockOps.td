// What loops keep of their rounds, in blocks of rounds.
#ifndef TENON_BLOCK_OPS_TD
#define TENON_BLOCK_OPS_TD
include "TenonDialect.td"

def Tenon_RegroupOp : Tenon_Op<"regroup", [Pure, Tenon_Address, DeclareOpInterfaceMethods<MemoryOpInterface, ["partOf"]>,
                                           DeclareOpInterfaceMethods<ElementOpInterface>]> {
  let summary = "what a loop keeps of its rounds, in blocks of rounds; or back";
  let description = [{
    Formula: with k rows in a block `y[b, i, ..] = x[b k + i, ..]`, or back `y[r, ..] = x[floor(r / k), r mod k, ..]`.

    | operand | shape | dtype |
    |---|---|---|
    | x | [n, ..] or [ceil(n / k), k, ..] | any |
    | y | the other one | as x |

    The last block may have fewer rows than k: those behind row n - 1 have no contents, and the rounds that would read them are
    skipped. It lies where x lies.

    Constraints: C1 one of x and y has one dimension more; C2 that one has the rows of the other in blocks of a number of rows
    from 1 on, and its further sizes and elements.

    Gradient: none, it is made after differentiation.

    Source: Griewank & Walther 2008, chapter 12: a chain of steps that is computed again from checkpoints.

    Example:
    ```mlir
    %y = tenon.regroup %x : tensor<10x8xf32> -> tensor<3x4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_StoredTensor:$x);
  let results = (outs Tenon_StoredTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}
#endif
