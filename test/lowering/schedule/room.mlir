// A temporary of a text is held against the slot that it has for all sizes of the dims, not only where these are alike.
// DEFINE: %{schedule} = --pass-pipeline='builtin.module(func.func(tenon-schedule))'
// DEFINE: %{emit} = --tenon-emit-cpu=tier=portable
// RUN: tenon-opt %s %{schedule} | FileCheck %s
// RUN: tenon-opt %s %{schedule} | tenon-opt %{emit} | FileCheck %s --check-prefix=EMITTED
// EMITTED: llvm.func @tn_run_top_portable
// Squares of one dim for a product of two; room where both are short; a longer one is taken.
// RUN: tenon-opt %s %{schedule} | sed 's/slot<(d0, d1) -> (d0, d1, 64) temporary/slot<(d0, d1) -> (d0, d0, 64) temporary/' | not tenon-opt %{emit} 2>&1 | FileCheck %s --check-prefix=SQUARE
// RUN: tenon-opt %s %{schedule} | sed 's/slot<(d0, d1) -> (d0, d1, 64) temporary/slot<(d0, d1) -> (d1 + d0 * 4032, 64) temporary/' | not tenon-opt %{emit} 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: tenon-opt %s %{schedule} | sed 's/slot<(d0, d1) -> (d0, d1, 64) temporary/slot<(d0, d1) -> (d0, d1 + 1, 64) temporary/' | tenon-opt %{emit} | FileCheck %s --check-prefix=EMITTED
// SQUARE: <stdin>:{{[0-9]+}}:{{[0-9]+}}: error: 'tenon.top' op expects for what is chosen a temporary of 262144 bytes, got one of 64
// SUM: <stdin>:{{[0-9]+}}:{{[0-9]+}}: error: 'tenon.top' op expects for what is chosen a temporary of {{[0-9]+}} bytes, got one of {{[0-9]+}}
#x = affine_map<(d0, d1) -> (d0, d1, 150)>
#y = affine_map<(d0, d1) -> (d0, d1, 8)>
// CHECK: tenon.slots = [#tenon.slot<(d0, d1) -> (d0, d1, 64) temporary true>]
func.func @top(%T: index, %S: index, %x: tensor<?x?x150xf32, #x>) attributes {tenon.kind = "out", tenon.dims = ["T", "S"], tenon.states = []} {
  %y = tenon.top %x : tensor<?x?x150xf32, #x> -> tensor<?x?x8xi32, #y>
  tenon.output 0 "y", %y : tensor<?x?x8xi32, #y>
  return
}
