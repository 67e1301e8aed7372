// RUN: tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK: tenon.parameter @plain : tensor<50x8xf32>
tenon.parameter @plain : tensor<50x8xf32>
// CHECK: tenon.parameter @"blocks.*.w" stacked {offset = 64 : i64, stride = 256 : i64} : tensor<3x8x8xf32>
tenon.parameter @"blocks.*.w" stacked {offset = 64 : i64, stride = 256 : i64} : tensor<3x8x8xf32>
// CHECK: tenon.parameter @still stacked frozen {levels = 2 : i64} : tensor<3x2x8xf32>
tenon.parameter @still stacked frozen {levels = 2 : i64} : tensor<3x2x8xf32>

// CHECK-LABEL: func.func @structure
func.func @structure(%x: tensor<4x8xf32>, %rows: tensor<2x3x8xf32>, %position: tensor<i32>)
    attributes {tenon.states = [tensor<4x8xf32>, tensor<5x4x8xf32>, tensor<5x2x16x8xf32>]} {
  // CHECK: tenon.read_parameter @plain : tensor<50x8xf32>
  %p = tenon.read_parameter @plain : tensor<50x8xf32>
  // CHECK: tenon.write_gradient @plain, %{{.*}} : tensor<50x8xf32>
  tenon.write_gradient @plain, %p : tensor<50x8xf32>
  // CHECK: tenon.read_loss_scale : tensor<f32>
  %scale = tenon.read_loss_scale : tensor<f32>
  // CHECK: tenon.read_state 0 : tensor<4x8xf32>
  %s = tenon.read_state 0 : tensor<4x8xf32>
  // CHECK: tenon.stack 3 from 2 reverse(%{{.*}}) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<3x4x8xf32>) {
  %y, %saved = tenon.stack 3 from 2 reverse (%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<3x4x8xf32>) {
  ^bb0(%depth: index, %h: tensor<4x8xf32>):
    // CHECK: tenon.depth_value %{{.*}} : tensor<i32>
    %d = tenon.depth_value %depth : tensor<i32>
    // CHECK: tenon.read_parameter @"blocks.*.w"[%{{.*}}] : tensor<8x8xf32>
    %w = tenon.read_parameter @"blocks.*.w"[%depth] : tensor<8x8xf32>
    // CHECK: tenon.write_gradient @"blocks.*.w"[%{{.*}}], %{{.*}} : tensor<8x8xf32>
    tenon.write_gradient @"blocks.*.w"[%depth], %w : tensor<8x8xf32>
    // CHECK: tenon.write_state 1[%{{.*}}], %{{.*}} : tensor<4x8xf32>
    tenon.write_state 1[%depth], %h : tensor<4x8xf32>
    // CHECK: tenon.append_state 2[%{{.*}}], %{{.*}} at %{{.*}} dim 1 : tensor<2x3x8xf32>, tensor<i32> -> tensor<2x16x8xf32>
    %whole = tenon.append_state 2[%depth], %rows at %position dim 1 : tensor<2x3x8xf32>, tensor<i32> -> tensor<2x16x8xf32>
    // CHECK: tenon.yield %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xf32>
    tenon.yield %h, %h : tensor<4x8xf32>, tensor<4x8xf32>
  }
  %c = arith.constant 3 : index
  // CHECK: tenon.at_depth %{{.*}}[%{{.*}}] from 2 : tensor<3x4x8xf32> -> tensor<4x8xf32>
  %t = tenon.at_depth %saved[%c] from 2 : tensor<3x4x8xf32> -> tensor<4x8xf32>
  // CHECK: tenon.output 0 "y", %{{.*}} : tensor<4x8xf32>
  tenon.output 0 "y", %t : tensor<4x8xf32>
  // CHECK: tenon.optimize "adamw" {settings = {decay = 1.000000e-02 : f64, lr = 1.000000e-03 : f64}} : tensor<f64>, tensor<f64>
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, decay = 1.0e-2}} : tensor<f64>, tensor<f64>
  return
}

// A loop over the places of a recurrence: its length is a form over the dims.
// CHECK-LABEL: func.func @places
func.func @places(%t: index, %x: tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>, %h: tensor<8xf32>) attributes {tenon.dims = ["T"]} {
  // CHECK: tenon.stack #map{{[0-9]*}} from 1(%{{.*}}) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<?x8xf32, #map{{[0-9]*}}>) {
  %y:2 = tenon.stack affine_map<(d0) -> (d0 - 1)> from 1 (%h) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<?x8xf32, affine_map<(d0) -> (d0 - 1, 8)>>) {
  ^bb0(%at: index, %carry: tensor<8xf32>):
    %one = tenon.at_depth %x[%at] : tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>> -> tensor<8xf32>
    %new = tenon.add %one, %carry : tensor<8xf32>
    tenon.yield %new, %carry : tensor<8xf32>, tensor<8xf32>
  }
  tenon.output 0 "y", %y#0 : tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @rounds
func.func @rounds(%x: tensor<4xf32>, %none: tensor<i32>, %stop: tensor<i1>) {
  %y:2 = tenon.stack 5 (%x, %none) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
  ^bb0(%depth: index, %h: tensor<4xf32>, %n: tensor<i32>):
    // CHECK: tenon.skip %{{.*}} counts %{{.*}} : tensor<i1>, tensor<i32>
    tenon.skip %stop counts %n : tensor<i1>, tensor<i32>
    // CHECK: tenon.skip %{{.*}} : tensor<i1>
    tenon.skip %stop : tensor<i1>
    tenon.yield %h, %n : tensor<4xf32>, tensor<i32>
  }
  return
}

// CHECK-LABEL: func.func @regrouped
func.func @regrouped(%T: index, %x: tensor<10x8xf32>, %y: tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>) attributes {tenon.dims = ["T"]} {
  // CHECK: tenon.regroup %{{.*}} : tensor<10x8xf32> -> tensor<3x4x8xf32>
  %a = tenon.regroup %x : tensor<10x8xf32> -> tensor<3x4x8xf32>
  // CHECK: tenon.regroup %{{.*}} : tensor<3x4x8xf32> -> tensor<10x8xf32>
  %b = tenon.regroup %a : tensor<3x4x8xf32> -> tensor<10x8xf32>
  // CHECK: tenon.regroup %{{.*}} : tensor<?x8xf32, {{.*}}> -> tensor<?x4x8xf32, {{.*}}>
  %c = tenon.regroup %y : tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>> -> tensor<?x4x8xf32, affine_map<(d0) -> (d0 ceildiv 4, 4, 8)>>
  return
}
