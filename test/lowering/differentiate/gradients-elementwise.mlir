// The gradients of elementwise ops, as ops; %arg0 is the gradient of y. Nothing is computed besides.
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s --implicit-check-not='= tenon.'

// CHECK-LABEL: func.func @neg(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.neg
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[NEG2:.*]] = tenon.neg %arg0
// CHECK-NEXT: tenon.write_gradient @a, %[[NEG2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @neg(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.neg %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @exp(
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[EXP:.*]] = tenon.exp %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %arg0, %[[EXP]]
// CHECK-NEXT: tenon.write_gradient @a, %[[MUL2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @exp(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.exp %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @log(
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: tenon.log %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[DIV:.*]] = tenon.div %arg0, %[[A]]
// CHECK-NEXT: tenon.write_gradient @a, %[[DIV]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @log(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.log %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @sqrt(
// CHECK: %[[C:.*]] = tenon.constant 5.000000e-01
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[SQRT:.*]] = tenon.sqrt %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %arg0, %[[C]]
// CHECK-NEXT: %[[DIV:.*]] = tenon.div %[[MUL2]], %[[SQRT]]
// CHECK-NEXT: tenon.write_gradient @a, %[[DIV]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @sqrt(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.sqrt %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @abs(
// CHECK: %[[C:.*]] = tenon.constant 0.000000e+00
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: tenon.abs %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[COMPARE:.*]] = tenon.compare lt %[[C]], %[[A]]
// CHECK-NEXT: %[[COMPARE2:.*]] = tenon.compare lt %[[A]], %[[C]]
// CHECK-NEXT: %[[NEG:.*]] = tenon.neg %arg0
// CHECK-NEXT: %[[SELECT:.*]] = tenon.select %[[COMPARE2]], %[[NEG]], %[[C]]
// CHECK-NEXT: %[[SELECT2:.*]] = tenon.select %[[COMPARE]], %arg0, %[[SELECT]]
// CHECK-NEXT: tenon.write_gradient @a, %[[SELECT2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @abs(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.abs %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @sin(
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: tenon.sin %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[COS:.*]] = tenon.cos %[[A]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %arg0, %[[COS]]
// CHECK-NEXT: tenon.write_gradient @a, %[[MUL2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @sin(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.sin %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @cos(
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: tenon.cos %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[SIN:.*]] = tenon.sin %[[A]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %arg0, %[[SIN]]
// CHECK-NEXT: %[[NEG:.*]] = tenon.neg %[[MUL2]]
// CHECK-NEXT: tenon.write_gradient @a, %[[NEG]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @cos(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.cos %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @atan(
// CHECK: %[[C:.*]] = tenon.constant 1.000000e+00
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: tenon.atan %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[A]], %[[A]]
// CHECK-NEXT: %[[ADD:.*]] = tenon.add %[[C]], %[[MUL2]]
// CHECK-NEXT: %[[DIV:.*]] = tenon.div %arg0, %[[ADD]]
// CHECK-NEXT: tenon.write_gradient @a, %[[DIV]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @atan(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.atan %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @erf(
// CHECK: %[[C:.*]] = tenon.constant 1.12837
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: tenon.erf %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[SQUARE:.*]] = tenon.mul %[[A]], %[[A]]
// CHECK-NEXT: %[[NEG:.*]] = tenon.neg %[[SQUARE]]
// CHECK-NEXT: %[[EXP:.*]] = tenon.exp %[[NEG]]
// CHECK-NEXT: %[[SLOPE:.*]] = tenon.mul %[[EXP]], %[[C]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %arg0, %[[SLOPE]]
// CHECK-NEXT: tenon.write_gradient @a, %[[MUL]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @erf(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.erf %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @tanh(
// CHECK: %[[C:.*]] = tenon.constant 1.000000e+00
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[TANH:.*]] = tenon.tanh %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[TANH]], %[[TANH]]
// CHECK-NEXT: %[[SUB:.*]] = tenon.sub %[[C]], %[[MUL2]]
// CHECK-NEXT: %[[MUL3:.*]] = tenon.mul %arg0, %[[SUB]]
// CHECK-NEXT: tenon.write_gradient @a, %[[MUL3]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @tanh(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.tanh %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @sigmoid(
// CHECK: %[[C:.*]] = tenon.constant 1.000000e+00
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[SIGMOID:.*]] = tenon.sigmoid %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[SUB:.*]] = tenon.sub %[[C]], %[[SIGMOID]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[SIGMOID]], %[[SUB]]
// CHECK-NEXT: %[[MUL3:.*]] = tenon.mul %arg0, %[[MUL2]]
// CHECK-NEXT: tenon.write_gradient @a, %[[MUL3]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @sigmoid(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.sigmoid %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @relu(
// CHECK: %[[C:.*]] = tenon.constant 0.000000e+00
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: tenon.relu %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[COMPARE:.*]] = tenon.compare lt %[[C]], %[[A]]
// CHECK-NEXT: %[[SELECT:.*]] = tenon.select %[[COMPARE]], %arg0, %[[C]]
// CHECK-NEXT: tenon.write_gradient @a, %[[SELECT]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @relu(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.relu %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @gelu(
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: tenon.gelu %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[ACTIVATION_GRAD:.*]] = tenon.activation_grad "gelu" %[[A]], %arg0
// CHECK-NEXT: tenon.write_gradient @a, %[[ACTIVATION_GRAD]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @gelu(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.gelu %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @gelu_tanh(
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: tenon.gelu_tanh %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[ACTIVATION_GRAD:.*]] = tenon.activation_grad "gelu_tanh" %[[A]], %arg0
// CHECK-NEXT: tenon.write_gradient @a, %[[ACTIVATION_GRAD]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @gelu_tanh(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.gelu_tanh %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @add(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.read_parameter @b
// CHECK: tenon.add
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: tenon.write_gradient @b, %arg0
// CHECK-NEXT: tenon.write_gradient @a, %arg0
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  tenon.parameter @b : tensor<4x8xf32>
  func.func @add(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %b = tenon.read_parameter @b : tensor<4x8xf32>
    %y = tenon.add %a, %b : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @sub(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.read_parameter @b
// CHECK: tenon.sub
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[NEG:.*]] = tenon.neg %arg0
// CHECK-NEXT: tenon.write_gradient @b, %[[NEG]]
// CHECK-NEXT: tenon.write_gradient @a, %arg0
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  tenon.parameter @b : tensor<4x8xf32>
  func.func @sub(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %b = tenon.read_parameter @b : tensor<4x8xf32>
    %y = tenon.sub %a, %b : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @mul(
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[B:.*]] = tenon.read_parameter @b
// CHECK: tenon.mul
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[MUL3:.*]] = tenon.mul %arg0, %[[B]]
// CHECK-NEXT: %[[MUL4:.*]] = tenon.mul %arg0, %[[A]]
// CHECK-NEXT: tenon.write_gradient @b, %[[MUL4]]
// CHECK-NEXT: tenon.write_gradient @a, %[[MUL3]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  tenon.parameter @b : tensor<4x8xf32>
  func.func @mul(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %b = tenon.read_parameter @b : tensor<4x8xf32>
    %y = tenon.mul %a, %b : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @div(
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[B:.*]] = tenon.read_parameter @b
// CHECK: %[[DIV:.*]] = tenon.div %[[A]], %[[B]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[DIV2:.*]] = tenon.div %arg0, %[[B]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %arg0, %[[DIV]]
// CHECK-NEXT: %[[DIV3:.*]] = tenon.div %[[MUL2]], %[[B]]
// CHECK-NEXT: %[[NEG:.*]] = tenon.neg %[[DIV3]]
// CHECK-NEXT: tenon.write_gradient @b, %[[NEG]]
// CHECK-NEXT: tenon.write_gradient @a, %[[DIV2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  tenon.parameter @b : tensor<4x8xf32>
  func.func @div(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %b = tenon.read_parameter @b : tensor<4x8xf32>
    %y = tenon.div %a, %b : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @pow(
// CHECK: %[[C:.*]] = tenon.constant 1.000000e+00
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[B:.*]] = tenon.read_parameter @b
// CHECK: %[[POW:.*]] = tenon.pow %[[A]], %[[B]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[SUB:.*]] = tenon.sub %[[B]], %[[C]]
// CHECK-NEXT: %[[POW2:.*]] = tenon.pow %[[A]], %[[SUB]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[B]], %[[POW2]]
// CHECK-NEXT: %[[MUL3:.*]] = tenon.mul %arg0, %[[MUL2]]
// CHECK-NEXT: %[[LOG:.*]] = tenon.log %[[A]]
// CHECK-NEXT: %[[MUL4:.*]] = tenon.mul %[[POW]], %[[LOG]]
// CHECK-NEXT: %[[MUL5:.*]] = tenon.mul %arg0, %[[MUL4]]
// CHECK-NEXT: tenon.write_gradient @b, %[[MUL5]]
// CHECK-NEXT: tenon.write_gradient @a, %[[MUL3]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  tenon.parameter @b : tensor<4x8xf32>
  func.func @pow(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %b = tenon.read_parameter @b : tensor<4x8xf32>
    %y = tenon.pow %a, %b : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @max(
// CHECK: %[[C:.*]] = tenon.constant 5.000000e-01
// CHECK: %[[C2:.*]] = tenon.constant 0.000000e+00
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[B:.*]] = tenon.read_parameter @b
// CHECK: tenon.max %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[COMPARE:.*]] = tenon.compare eq %[[A]], %[[B]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %arg0, %[[C]]
// CHECK-NEXT: %[[COMPARE2:.*]] = tenon.compare lt %[[B]], %[[A]]
// CHECK-NEXT: %[[SELECT:.*]] = tenon.select %[[COMPARE2]], %arg0, %[[C2]]
// CHECK-NEXT: %[[SELECT2:.*]] = tenon.select %[[COMPARE]], %[[MUL2]], %[[SELECT]]
// CHECK-NEXT: %[[COMPARE3:.*]] = tenon.compare lt %[[A]], %[[B]]
// CHECK-NEXT: %[[SELECT3:.*]] = tenon.select %[[COMPARE3]], %arg0, %[[C2]]
// CHECK-NEXT: %[[SELECT4:.*]] = tenon.select %[[COMPARE]], %[[MUL2]], %[[SELECT3]]
// CHECK-NEXT: tenon.write_gradient @b, %[[SELECT4]]
// CHECK-NEXT: tenon.write_gradient @a, %[[SELECT2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  tenon.parameter @b : tensor<4x8xf32>
  func.func @max(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %b = tenon.read_parameter @b : tensor<4x8xf32>
    %y = tenon.max %a, %b : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @min(
// CHECK: %[[C:.*]] = tenon.constant 5.000000e-01
// CHECK: %[[C2:.*]] = tenon.constant 0.000000e+00
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[B:.*]] = tenon.read_parameter @b
// CHECK: tenon.min %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[COMPARE:.*]] = tenon.compare eq %[[B]], %[[A]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %arg0, %[[C]]
// CHECK-NEXT: %[[COMPARE2:.*]] = tenon.compare lt %[[A]], %[[B]]
// CHECK-NEXT: %[[SELECT:.*]] = tenon.select %[[COMPARE2]], %arg0, %[[C2]]
// CHECK-NEXT: %[[SELECT2:.*]] = tenon.select %[[COMPARE]], %[[MUL2]], %[[SELECT]]
// CHECK-NEXT: %[[COMPARE3:.*]] = tenon.compare lt %[[B]], %[[A]]
// CHECK-NEXT: %[[SELECT3:.*]] = tenon.select %[[COMPARE3]], %arg0, %[[C2]]
// CHECK-NEXT: %[[SELECT4:.*]] = tenon.select %[[COMPARE]], %[[MUL2]], %[[SELECT3]]
// CHECK-NEXT: tenon.write_gradient @b, %[[SELECT4]]
// CHECK-NEXT: tenon.write_gradient @a, %[[SELECT2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  tenon.parameter @b : tensor<4x8xf32>
  func.func @min(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %b = tenon.read_parameter @b : tensor<4x8xf32>
    %y = tenon.min %a, %b : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @select(
// CHECK: %[[C:.*]] = tenon.constant 0.000000e+00
// CHECK: tenon.read_parameter @a
// CHECK: tenon.read_parameter @b
// CHECK: tenon.select %arg1
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[SELECT2:.*]] = tenon.select %arg1, %arg0, %[[C]]
// CHECK-NEXT: %[[SELECT3:.*]] = tenon.select %arg1, %[[C]], %arg0
// CHECK-NEXT: tenon.write_gradient @b, %[[SELECT3]]
// CHECK-NEXT: tenon.write_gradient @a, %[[SELECT2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  tenon.parameter @b : tensor<4x8xf32>
  func.func @select(%dy: tensor<4x8xf32>, %c: tensor<4x8xi1>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %b = tenon.read_parameter @b : tensor<4x8xf32>
    %y = tenon.select %c, %a, %b : tensor<4x8xi1>, tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @convert(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.convert
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[CONVERT2:.*]] = tenon.convert %arg0
// CHECK-NEXT: tenon.write_gradient @a, %[[CONVERT2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf64>
  func.func @convert(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf64>
    %y = tenon.convert %a : tensor<4x8xf64> -> tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}
