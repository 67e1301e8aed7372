// What the verifiers of the optimizer and of the loss scale refuse.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// optimize C1: a rule there is.
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects the rule sgd, adam, adam_tf, adamw, bert_adam, gpt1_adam, adamax, adamaxw, adam_paddle, lamb, lion, radam or adafactor, got tiger}}
  %norm, %rate = tenon.optimize "tiger" {settings = {lr = 1.0e-3}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C1: a schedule there is.
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects the schedule constant, linear, cosine, polynomial, noam, bert_linear, xlnet_linear, nezha_linear, bertadam_linear, electra_linear, gpt1_linear, gpt1_cosine, txl_cosine, txl_inverse_sqrt, paddle_noam, inverse_sqrt, fairseq_polynomial, rsqrt, steps, milestones, cosine_restarts or plateau, got step}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, schedule = "step"}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C1: a form there is.
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects a form of lamb that there is, got v4}}
  %norm, %rate = tenon.optimize "lamb" {settings = {lr = 1.0e-3, form = "v4"}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C2: a form is a name ..
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects a name as form, got 3.000000e+00}}
  %norm, %rate = tenon.optimize "lamb" {settings = {lr = 1.0e-3, form = 3.0}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C2: .. of a rule that has forms ..
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects settings that there are, got form}}
  %norm, %rate = tenon.optimize "adam" {settings = {lr = 1.0e-3, form = ""}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C2: .. a setting of this rule ..
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects settings that there are, got momentum}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, momentum = 0.5}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C2: .. of this schedule ..
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects settings that there are, got floor}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, schedule = "noam", size = 4.0, warmup = 4.0, floor = 0.5}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C2: a setting there is ..
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects settings that there are, got beta3}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, beta3 = 0.5}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C2: .. a number ..
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects a number as clip, got true}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, clip = true}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C2: .. a truth value ..
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects a truth value as nesterov, got 1.000000e+00 : f64}}
  %norm, %rate = tenon.optimize "sgd" {settings = {lr = 1.0e-3, nesterov = 1.0}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C2: .. a name.
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects a name as schedule, got 1.000000e+00 : f64}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, schedule = 1.0}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C2: .. numbers ..
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects numbers as at, got 3.000000e+00 : f64}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, schedule = "milestones", at = 3.0, factor = 0.5}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C2: .. a share of what the schedule counts in the length ..
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects settings that there are, got period_share}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, schedule = "steps", period_share = 0.5, factor = 0.5}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C3.
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects the setting lr, got {beta1 = 5.000000e-01 : f64}}}
  %norm, %rate = tenon.optimize "adamw" {settings = {beta1 = 0.5}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C4.
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects accumulate to be 1 or more, got 0.000000e+00}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, accumulate = 0.0}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C5.
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects total to be larger than warmup, got 1.000000e+02 and 1.000000e+02}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, schedule = "linear", total = 100.0, warmup = 100.0}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C5: cycles end, too.
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects total to be larger than warmup, got 0.000000e+00 and 5.000000e+00}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, schedule = "cosine_restarts", cycles = 2, warmup = 5}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C6.
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects warmup of the schedule noam to be positive, got none}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, schedule = "noam", size = 512.0}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C6: .. more than the number before ..
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects at of the schedule milestones to be positive and to rise, got array<f64: 3.000000e+00, 3.000000e+00>}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, schedule = "milestones", at = array<f64: 3.0, 3.0>, factor = 0.5}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C6: .. one of two.
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects one of period, cycles of the schedule cosine_restarts to be positive, got 0}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, schedule = "cosine_restarts"}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C7.
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects results of 'tensor<f64>', got 'tensor<f32>'}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3}} : tensor<f64>, tensor<f32>
  return
}

// -----
// optimize C8: all settings of a loss scale ..
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects scale_growth and scale_every of 1 or more and scale_backoff up to 1, got 2.000000e+00, 0.000000e+00 and 0.000000e+00}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, scale_growth = 2.0}} : tensor<f64>, tensor<f64>
  return
}

// -----
// optimize C8: .. in their ranges.
func.func @f() {
  // expected-error @+1 {{'tenon.optimize' op expects scale_growth and scale_every of 1 or more and scale_backoff up to 1, got 2.000000e+00, 3.000000e+00 and 2.000000e+00}}
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3, scale_growth = 2.0, scale_backoff = 2.0, scale_every = 3}} : tensor<f64>, tensor<f64>
  return
}

// -----
// read_loss_scale C1.
func.func @f() {
  // expected-error @+1 {{'tenon.read_loss_scale' op expects a scale of 'tensor<f32>', got 'tensor<f64>'}}
  %s = tenon.read_loss_scale : tensor<f64>
  return
}
