// Parameters of 16 bits lie in their arena at half the offsets that their gradients have in theirs, and move by half the steps; the optimizer reads and writes them there.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-schedule))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-schedule),tenon-emit-cpu)' | FileCheck %s --check-prefix=CODE

module attributes {tenon.compute = bf16, tenon.parameters = bf16} {
  tenon.parameter @w stacked {offset = 64 : i64, stride = 256 : i64} : tensor<3x8x8xf32>

  // CHECK-LABEL: func.func @step
  // CHECK: tenon.loop 3
  // CHECK: tenon.place <parameters 32, [<0, () -> (128), 0>]> : tensor<8x8xbf16>
  // CHECK: tenon.places = [#tenon.place<gradients 64, [<0, () -> (256), 0>]>]

  // The parameter is read as 16 bits, widened, rounded and stored as such; gradient and moment are f32.
  // CODE-LABEL: llvm.func internal @step.update.body(
  // CODE: %[[HALF:.*]] = arith.divui
  // CODE: llvm.getelementptr %{{.*}}[%[[HALF]]]
  // CODE-NOT: arith.divui
  // CODE: llvm.load %{{.*}} : !llvm.ptr -> vector<16xi16>
  // CODE: llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
  // CODE: llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
  // CODE: llvm.store %{{.*}} : vector<16xf32>, !llvm.ptr
  // CODE: llvm.store %{{.*}} : vector<16xi16>, !llvm.ptr
  func.func @step(%x: tensor<8x8xbf16>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %back = tenon.stack 3 reverse (%x) : (tensor<8x8xbf16>) -> (tensor<8x8xbf16>) {
    ^bb0(%depth: index, %dy: tensor<8x8xbf16>):
      %w = tenon.read_parameter @w[%depth] : tensor<8x8xbf16>
      %dw = tenon.gemm %dy[2, 0], %w[2, 1] rank 2 : tensor<8x8xbf16>, tensor<8x8xbf16> -> tensor<8x8xf32> {
      ^bb0(%i: index, %j: index, %sum: f32):
        tenon.put 0 [%i, %j], %sum : f32
      }
      tenon.write_gradient @w[%depth], %dw : tensor<8x8xf32>
      tenon.yield %dy : tensor<8x8xbf16>
    }
    %norm, %rate = tenon.optimize "sgd" {settings = {lr = 1.0, momentum = 0.5}} : tensor<f64>, tensor<f64>
    tenon.output 0 "grad_norm", %norm : tensor<f64>
    tenon.output 1 "learning_rate", %rate : tensor<f64>
    return
  }
}

// -----

// There are no f32 values to read.
module attributes {tenon.parameters = f16} {
  tenon.parameter @w {offset = 64 : i64, stride = 256 : i64} : tensor<8xf32>
  func.func @wide() attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
    // expected-error@+1 {{'tenon.read_parameter' op expects a value of 'f16', in which parameters lie in memory, got 'tensor<8xf32>'}}
    %w = tenon.read_parameter @w : tensor<8xf32>
    tenon.output 0 "w", %w : tensor<8xf32>
    return
  }
}
