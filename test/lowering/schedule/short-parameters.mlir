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
  // CODE: llvm.getelementptr inbounds %{{.*}}[%[[HALF]]]
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

// Remainders lie in an arena of their own, at the same places; the optimizer joins, computes in f32, and stores both halves.
module attributes {tenon.compute = bf16, tenon.parameters = bf16, tenon.remainders = i16} {
  tenon.parameter @b stacked {offset = 64 : i64, stride = 64 : i64} : tensor<3x8xf32>

  // CHECK-LABEL: func.func @split
  // CHECK: tenon.loop 3
  // CHECK-DAG: tenon.place <parameters 32, [<0, () -> (32), 0>]> : tensor<8xbf16>
  // CHECK-DAG: tenon.place <remainders 32, [<0, () -> (32), 0>]> : tensor<8xi16>
  // CHECK: tenon.places = [#tenon.place<gradients 64, [<0, () -> (64), 0>]>]

  // CODE-LABEL: llvm.func internal @split.update.body(
  // CODE: %[[UPPER:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<16xi16>
  // CODE: %[[REST:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<16xi16>
  // CODE: %[[WIDE:.*]] = arith.extui %[[UPPER]] : vector<16xi16> to vector<16xi32>
  // CODE: %[[HIGH:.*]] = arith.shli %[[WIDE]]
  // CODE: %[[LOW:.*]] = arith.extsi %[[REST]] : vector<16xi16> to vector<16xi32>
  // CODE: arith.addi %[[HIGH]], %[[LOW]]
  // CODE: llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
  // CODE: llvm.store %{{.*}} : vector<16xi16>, !llvm.ptr
  // CODE: llvm.store %{{.*}} : vector<16xi16>, !llvm.ptr
  func.func @split(%x: tensor<8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %back = tenon.stack 3 reverse (%x) : (tensor<8xf32>) -> (tensor<8xf32>) {
    ^bb0(%depth: index, %dy: tensor<8xf32>):
      %upper = tenon.read_parameter @b[%depth] : tensor<8xbf16>
      %rest = tenon.read_parameter @b[%depth] remainder : tensor<8xi16>
      %db = tenon.nest affine_map<() -> ()> : tensor<8xf32> {
        tenon.each affine_map<() -> (8)> {
        ^bb0(%i: index):
          %a = tenon.at %upper[%i] : tensor<8xbf16> -> bf16
          %c = tenon.at %rest[%i] : tensor<8xi16> -> i16
          %aw = arith.extf %a : bf16 to f32
          %cw = arith.sitofp %c : i16 to f32
          %sum = arith.addf %aw, %cw : f32
          tenon.put 0 [%i], %sum : f32
        }
      }
      tenon.write_gradient @b[%depth], %db : tensor<8xf32>
      tenon.yield %dy : tensor<8xf32>
    }
    %norm, %rate = tenon.optimize "sgd" {settings = {lr = 1.0}} : tensor<f64>, tensor<f64>
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

// -----

// Beside them f64 lies at half its offset, whole; the optimizer has kernels for each type, which share norm and rate.
module attributes {tenon.parameters = bf16} {
  tenon.parameter @b {offset = 0 : i64, stride = 64 : i64} : tensor<8xf32>
  tenon.parameter @w {offset = 64 : i64, stride = 128 : i64} : tensor<8xf64>

  // CHECK-LABEL: func.func @mixed
  // CHECK-DAG: tenon.place <parameters 0> : tensor<8xbf16>
  // CHECK-DAG: tenon.place <parameters 32> : tensor<8xf64>
  // CHECK-DAG: tenon.places = [#tenon.place<gradients 0>]
  // CHECK-DAG: tenon.places = [#tenon.place<gradients 64>]
  // CHECK: tenon.optimize
  // CHECK-SAME: tenon.launches = ["gradient_norm_bf16", "gradient_norm_f64", "step_scalars", "update_bf16", "update_f64"]

  // CODE-LABEL: llvm.func internal @mixed.update_f64.body(
  // CODE-NOT: xi16
  // CODE: llvm.load %{{.*}} : !llvm.ptr -> vector<8xf64>
  // CODE: llvm.store %{{.*}} : vector<8xf64>, !llvm.ptr
  func.func @mixed() attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %b = tenon.read_parameter @b : tensor<8xbf16>
    %w = tenon.read_parameter @w : tensor<8xf64>
    %db = tenon.nest affine_map<() -> ()> : tensor<8xf32> {
      tenon.each affine_map<() -> (8)> {
      ^bb0(%i: index):
        %x = tenon.at %b[%i] : tensor<8xbf16> -> bf16
        %y = arith.extf %x : bf16 to f32
        tenon.put 0 [%i], %y : f32
      }
    }
    tenon.write_gradient @b, %db : tensor<8xf32>
    %dw = tenon.nest affine_map<() -> ()> : tensor<8xf64> {
      tenon.each affine_map<() -> (8)> {
      ^bb0(%i: index):
        %x = tenon.at %w[%i] : tensor<8xf64> -> f64
        tenon.put 0 [%i], %x : f64
      }
    }
    tenon.write_gradient @w, %dw : tensor<8xf64>
    %norm, %rate = tenon.optimize "sgd" {settings = {lr = 1.0, momentum = 0.5}} : tensor<f64>, tensor<f64>
    tenon.output 0 "grad_norm", %norm : tensor<f64>
    tenon.output 1 "learning_rate", %rate : tensor<f64>
    return
  }
}
