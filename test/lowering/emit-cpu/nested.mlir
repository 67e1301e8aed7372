// Stacks in each other: kernels of the CPU find the indices of eight behind the context; a GPU's are given them.
// RUN: tenon-opt %s --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-schedule))'
// RUN: sed -e '/ninth$/d' -e 's/%y8/%h7/' %s | tenon-opt --pass-pipeline='builtin.module(func.func(tenon-schedule))' | tenon-opt --tenon-emit-cpu | FileCheck %s
// CHECK: llvm.func @tn_run_deep_
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_80}))' | FileCheck %s --check-prefix=GPU
// GPU-COUNT-9: tenon.loop 2
// GPU-NOT: tenon.loop

func.func @deep(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y0 = tenon.stack 2 (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%d0: index, %h0: tensor<4xf32>):
    %y1 = tenon.stack 2 (%h0) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%d1: index, %h1: tensor<4xf32>):
      %y2 = tenon.stack 2 (%h1) : (tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%d2: index, %h2: tensor<4xf32>):
        %y3 = tenon.stack 2 (%h2) : (tensor<4xf32>) -> tensor<4xf32> {
        ^bb0(%d3: index, %h3: tensor<4xf32>):
          %y4 = tenon.stack 2 (%h3) : (tensor<4xf32>) -> tensor<4xf32> {
          ^bb0(%d4: index, %h4: tensor<4xf32>):
            %y5 = tenon.stack 2 (%h4) : (tensor<4xf32>) -> tensor<4xf32> {
            ^bb0(%d5: index, %h5: tensor<4xf32>):
              %y6 = tenon.stack 2 (%h5) : (tensor<4xf32>) -> tensor<4xf32> {
              ^bb0(%d6: index, %h6: tensor<4xf32>):
                %y7 = tenon.stack 2 (%h6) : (tensor<4xf32>) -> tensor<4xf32> {
                ^bb0(%d7: index, %h7: tensor<4xf32>):
                  // expected-error@+1 {{not supported yet: more than 8 nested stacks}}
                  %y8 = tenon.stack 2 (%h7) : (tensor<4xf32>) -> tensor<4xf32> { // ninth
                  ^bb0(%d8: index, %h8: tensor<4xf32>): // ninth
                    tenon.yield %h8 : tensor<4xf32> // ninth
                  } // ninth
                  tenon.yield %y8 : tensor<4xf32>
                }
                tenon.yield %y7 : tensor<4xf32>
              }
              tenon.yield %y6 : tensor<4xf32>
            }
            tenon.yield %y5 : tensor<4xf32>
          }
          tenon.yield %y4 : tensor<4xf32>
        }
        tenon.yield %y3 : tensor<4xf32>
      }
      tenon.yield %y2 : tensor<4xf32>
    }
    tenon.yield %y1 : tensor<4xf32>
  }
  tenon.output 0 "y", %y0 : tensor<4xf32>
  return
}
