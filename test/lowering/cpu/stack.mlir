// Stacks forwards and backwards, parameters, gradients, states, scatter_add, the optimizer.
// RUN: tenon-kernel-test %s --dims=1 --dims=3 --dims=17 --dims=67 --tolerance=4e-6 | FileCheck %s
// RUN: tenon-kernel-test %s --dims=17 --step=9 --halves --tolerance=4e-6 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17 --corrupt=0.001 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED

#x = affine_map<(d0) -> (d0, 20)>
#h = affine_map<(d0) -> (4, d0, 20)>

tenon.parameter @emb {offset = 0 : i64, decay = array<f64: 0.0>} : tensor<11x20xf32>
tenon.parameter @w stacked {offset = 896 : i64, stride = 1664 : i64, lr = array<f64: 0.5, 1.0, 2.0, 1.0>, gradient = array<f64: 2.0>} : tensor<4x20x20xf32>

func.func @train(%T: index, %ids: tensor<?xi32, affine_map<(d0) -> (d0)>> {test.bound = 11 : i64}) attributes {tenon.states = [tensor<4x?x20xf32, #h>]} {
  %emb = tenon.read_parameter @emb : tensor<11x20xf32>
  %x = tenon.nest affine_map<(d0) -> (d0)> : tensor<?x20xf32, #x> {
  ^bb0(%i: index):
    %id = tenon.at %ids[%i] : tensor<?xi32, affine_map<(d0) -> (d0)>> -> i32
    %row = arith.index_cast %id : i32 to index
    tenon.each affine_map<(d0) -> (20)> {
    ^bb0(%j: index):
      %a = tenon.at %emb[%row, %j] : tensor<11x20xf32> -> f32
      tenon.put 0 [%i, %j], %a : f32
    }
  }
  %last, %inputs = tenon.stack 4 (%x) : (tensor<?x20xf32, #x>) -> (tensor<?x20xf32, #x>, tensor<4x?x20xf32, #h>) {
  ^bb0(%depth: index, %h: tensor<?x20xf32, #x>):
    %w = tenon.read_parameter @w[%depth] : tensor<20x20xf32>
    %old = tenon.read_state 0[%depth] : tensor<?x20xf32, #x>
    tenon.write_state 0[%depth], %h : tensor<?x20xf32, #x>
    %y = tenon.gemm %h[0, 2], %w[1, 2] rank 2 : tensor<?x20xf32, #x>, tensor<20x20xf32> -> tensor<?x20xf32, #x> {
    ^bb0(%i: index, %j: index, %sum: f32):
      %o = tenon.at %old[%i, %j] : tensor<?x20xf32, #x> -> f32
      %tenth = arith.constant 0.1 : f32
      %d = arith.index_cast %depth : index to i32
      %df = arith.sitofp %d : i32 to f32
      %s = arith.mulf %sum, %tenth : f32
      %r = arith.addf %s, %o : f32
      %q = arith.addf %r, %df : f32
      %n = tenon.size_value affine_map<(d0) -> (20)>
      %base = arith.muli %i, %n : index
      %e = arith.addi %base, %j : index
      %keep = tenon.random_keep %e depth %depth site 3 threshold 10000
      %zero = arith.constant 0.0 : f32
      %z = arith.select %keep, %q, %zero : f32
      tenon.put 0 [%i, %j], %z : f32
    }
    tenon.yield %y, %h : tensor<?x20xf32, #x>, tensor<?x20xf32, #x>
  }
  %back = tenon.stack 4 reverse (%last) : (tensor<?x20xf32, #x>) -> (tensor<?x20xf32, #x>) {
  ^bb0(%depth: index, %dy: tensor<?x20xf32, #x>):
    %w = tenon.read_parameter @w[%depth] : tensor<20x20xf32>
    %h = tenon.at_depth %inputs[%depth] : tensor<4x?x20xf32, #h> -> tensor<?x20xf32, #x>
    %dw = tenon.gemm %dy[2, 0], %h[2, 1] rank 2 : tensor<?x20xf32, #x>, tensor<?x20xf32, #x> -> tensor<20x20xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      %tenth = arith.constant 0.1 : f32
      %s = arith.mulf %sum, %tenth : f32
      tenon.put 0 [%i, %j], %s : f32
    }
    tenon.write_gradient @w[%depth], %dw : tensor<20x20xf32>
    %dx = tenon.gemm %dy[0, 2], %w[2, 1] rank 2 : tensor<?x20xf32, #x>, tensor<20x20xf32> -> tensor<?x20xf32, #x> {
    ^bb0(%i: index, %j: index, %sum: f32):
      %tenth = arith.constant 0.1 : f32
      %s = arith.mulf %sum, %tenth : f32
      tenon.put 0 [%i, %j], %s : f32
    }
    tenon.yield %dx : tensor<?x20xf32, #x>
  }
  %picked = tenon.scatter_add %back[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<?x20xf32, #x>, tensor<?xi32, affine_map<(d0) -> (d0)>> -> tensor<11x20xf32>
  %demb = tenon.scatter_add %back[%ids] onto %picked : tensor<11x20xf32> dim 0 x_dims [-1, 1] index_dims [0] : tensor<?x20xf32, #x>, tensor<?xi32, affine_map<(d0) -> (d0)>> -> tensor<11x20xf32>
  tenon.write_gradient @emb, %demb : tensor<11x20xf32>
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 0.01, beta2 = 0.98, decay = 0.1, clip = 1.0, schedule = "cosine", warmup = 2, total = 10}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}

// Other rules, over gradients that are there: an update of arenas alone.
func.func @adamax(%T: index) {
  %norm, %rate = tenon.optimize "adamax" {settings = {lr = 0.01, beta2 = 0.98, eps = 1.0e-3, decay = 0.1, clip = 1.0}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @dampened(%T: index) {
  %norm, %rate = tenon.optimize "sgd" {settings = {lr = 0.01, momentum = 0.9, dampening = 0.25, decay = 0.1, clip_tensor = 1.0, schedule = "steps", every = 1, factor = 0.5}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @adam_tf(%T: index) {
  %norm, %rate = tenon.optimize "adam_tf" {settings = {lr = 0.01, beta2 = 0.98, eps = 1.0e-2, decay = 0.1, clip_value = 0.1}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @adamw_hf(%T: index) {
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 0.01, beta2 = 0.98, eps = 1.0e-2, decay = 0.1, form = "hf"}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @bert_adam(%T: index) {
  %norm, %rate = tenon.optimize "bert_adam" {settings = {lr = 0.01, eps = 1.0e-2, decay = 0.1, clip_each = 0.5, schedule = "bert_linear", total = 9, power = 0.5}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @gpt1_adam(%T: index) {
  %norm, %rate = tenon.optimize "gpt1_adam" {settings = {lr = 0.01, eps = 1.0e-2, l2 = 0.1}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @adamaxw(%T: index) {
  %norm, %rate = tenon.optimize "adamaxw" {settings = {lr = 0.01, beta2 = 0.98, eps = 1.0e-3, decay = 0.1}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @adam_paddle(%T: index) {
  %norm, %rate = tenon.optimize "adam_paddle" {settings = {lr = 0.01, beta2 = 0.98, eps = 1.0e-2, decay = 0.1}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @lion(%T: index) {
  %norm, %rate = tenon.optimize "lion" {settings = {lr = 0.01, beta2 = 0.98, decay = 0.1, clip = 1.0}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @radam(%T: index) {
  %norm, %rate = tenon.optimize "radam" {settings = {lr = 0.01, decay = 0.1, clip = 1.0}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @radam_decoupled(%T: index) {
  %norm, %rate = tenon.optimize "radam" {settings = {lr = 0.01, beta2 = 0.6, decay = 0.1, clip = 1.0, form = "decoupled"}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @lamb_v3(%T: index) {
  %norm, %rate = tenon.optimize "lamb" {settings = {lr = 0.01, eps = 1.0e-2, decay = 0.1, clip = 1.0, form = "v3"}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @lamb_pytorch(%T: index) {
  %norm, %rate = tenon.optimize "lamb" {settings = {lr = 0.01, eps = 1.0e-2, decay = 0.1, clip = 1.0, form = "pytorch"}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @lamb_albert(%T: index) {
  %norm, %rate = tenon.optimize "lamb" {settings = {lr = 0.01, eps = 1.0e-2, decay = 0.1, clip = 1.0, form = "albert"}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @lamb_nvidia_tf(%T: index) {
  %norm, %rate = tenon.optimize "lamb" {settings = {lr = 0.01, eps = 1.0e-2, decay = 0.1, clip = 1.0, form = "nvidia_tf"}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @lamb_nvlamb(%T: index) {
  %norm, %rate = tenon.optimize "lamb" {settings = {lr = 0.01, eps = 1.0e-2, decay = 0.1, clip = 1.0, form = "nvlamb"}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
func.func @lamb_huawei(%T: index) {
  %norm, %rate = tenon.optimize "lamb" {settings = {lr = 0.01, eps = 1.0e-2, decay = 0.1, clip = 1.0, form = "huawei"}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
