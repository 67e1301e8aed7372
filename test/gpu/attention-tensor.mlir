// Fused attention of 16 bits by tensor cores, against the reference in f64: masks of all kinds, tiles that are full, partial, empty, rows without keys, terms of scores, widths.
// REQUIRES: gpu-emu
// RUN: tenon-gpu-kernel-test %s --storage=bf16 --dims=70,30,1 --schedules=1 --tolerance=1e-2 | FileCheck %s
// RUN: tenon-gpu-kernel-test %s --storage=f16 --dims=1,0,2 --dims=5,70,1 --schedules=2 --tolerance=2e-3 | FileCheck %s
// RUN: not tenon-gpu-kernel-test %s --only=window --storage=bf16 --dims=70,30,1 --schedules=1 --tolerance=1e-2 --corrupt=3e-2 | FileCheck %s --check-prefix=CONTROL
// RUN: tenon-gpu-kernel-test %s --storage=bf16 --print=ptx | FileCheck %s --check-prefix=PTX
// CHECK: ok:
// CONTROL: FAILED:
// PTX-DAG: .entry groups_attention_mma
// PTX-DAG: .entry window_attention_mma
// PTX-DAG: .entry masks_attention_mma
// PTX-DAG: .entry capped_attention_mma
// PTX-DAG: .entry wide_attention_mma
// PTX-DAG: .entry widest_attention_mma
// PTX-DAG: .entry rounded_attention_mma
// PTX-DAG: .entry relative_attention_mma
// PTX-DAG: .entry reversed_attention_mma
// PTX-DAG: .entry cut_attention_mma
// PTX-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// PTX-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTX-DAG: ex2.approx.ftz.f32
// PTX-DAG: cvt.rn.bf16x2.f32

#m0 = affine_map<(d0, d1, d2) -> (-d1)>
#m1 = affine_map<(d0, d1, d2) -> (d2)>
#m2 = affine_map<(d0, d1, d2) -> (1)>
#m3 = affine_map<(d0, d1, d2) -> (d2, d0, 4, 64)>
#m4 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 64)>
#m5 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 32)>
#m6 = affine_map<(d0, d1, d2) -> (d2, d0, 4, 32)>
#m7 = affine_map<(d0, d1, d2) -> (d2, 4, d0)>
#m8 = affine_map<(d0, d1, d2) -> (d1 - 9)>
#m9 = affine_map<(d0, d1, d2) -> (1 + d1)>
#m10 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 16)>
#m11 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 16)>
#m12 = affine_map<(d0, d1, d2) -> (d2, 1, d0)>
#m13 = affine_map<(d0, d1, d2) -> (1 - d1 floordiv 2)>
#m14 = affine_map<(d0, d1, d2) -> (0)>
#m15 = affine_map<(d0, d1, d2) -> (d2, d0)>
#m16 = affine_map<(d0, d1, d2) -> (d2, d0 + d1)>
#m17 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 48)>
#m18 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 48)>
#m19 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 80)>
#m20 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 80)>
#m21 = affine_map<(d0, d1, d2) -> (d2, 2, d0)>
#m22 = affine_map<(d0, d1, d2) -> (d1)>
#m23 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 32)>
#m24 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 2)>
#m25 = affine_map<(d0, d1, d2) -> (d0 + d1, 2)>
#m26 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 128)>
#m27 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 128)>
#m28 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 256)>
#m29 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 256)>
#m30 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 32)>
#m31 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 64)>
#m32 = affine_map<(d0, d1, d2) -> (d0 + d1, 2, 64)>
#m33 = affine_map<(d0, d1, d2) -> (-3)>
#m34 = affine_map<(d0, d1, d2) -> (d0 + d1 + 1)>
#m35 = affine_map<(d0, d1, d2) -> (d0)>
#m36 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 96)>
#m37 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 96)>
#m38 = affine_map<(d0, d1, d2) -> (2 * d0 + 2 * d1 + 2, 1, 96)>
#m39 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 2)>
#m40 = affine_map<(d0, d1, d2) -> (2 * d0 + 2 * d1 + 2, 1)>
#m41 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 32)>
#m42 = affine_map<(d0, d1, d2) -> (d0 + d1, 1, 32)>
#m43 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 48)>

// Groups of heads, causal masks and lengths that leave rows without keys, dropout.
func.func @groups(%I: index, %M: index, %B: index, %q: tensor<?x?x4x64xf32, #m3>, %k: tensor<?x?x2x64xf32, #m4>, %v: tensor<?x?x2x32xf32, #m5>, %len: tensor<?xi32, #m1> {test.bound = 40 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %len) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>, mask = [{test = "le", rest = #m0, query = -1 : i64, key = 1 : i64}, {test = "le", rest = #m2, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}], index_labels = [array<i64: 0>], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x4x64xf32, #m3>, tensor<?x?x2x64xf32, #m4>, tensor<?x?x2x32xf32, #m5>, tensor<?xi32, #m1>) -> (tensor<?x?x4x32xf32, #m6>, tensor<?x4x?xf32, #m7>, tensor<?x4x?xf32, #m7>)
  tenon.output 0 "y", %y : tensor<?x?x4x32xf32, #m6>
  tenon.output 1 "m", %m : tensor<?x4x?xf32, #m7>
  tenon.output 2 "s", %s : tensor<?x4x?xf32, #m7>
  return
}

// A window, a bound as the negation of another one, no mask for some keys; the narrowest heads.
func.func @window(%I: index, %M: index, %B: index, %q: tensor<?x?x1x16xf32, #m10>, %k: tensor<?x?x1x16xf32, #m11>, %v: tensor<?x?x1x16xf32, #m11>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = #m8, query = 1 : i64, key = -1 : i64}, ["not", {test = "le", rest = #m9, query = 1 : i64, key = -1 : i64}]], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x16xf32, #m10>, tensor<?x?x1x16xf32, #m11>, tensor<?x?x1x16xf32, #m11>) -> (tensor<?x?x1x16xf32, #m10>, tensor<?x1x?xf32, #m12>, tensor<?x1x?xf32, #m12>)
  tenon.output 0 "y", %y : tensor<?x?x1x16xf32, #m10>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m12>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m12>
  return
}

// Masks that are no bounds, or differ from query to query; sizes that are no powers of 2; dropout.
func.func @masks(%I: index, %M: index, %B: index, %q: tensor<?x?x2x48xf32, #m17>, %k: tensor<?x?x1x48xf32, #m18>, %v: tensor<?x?x1x80xf32, #m19>, %rq: tensor<?x?xi32, #m15> {test.bound = 60 : i64}, %rk: tensor<?x?xi32, #m16> {test.bound = 60 : i64}, %holds: tensor<?x?xi1, #m16>, %reach: tensor<?x?xi32, #m15> {test.bound = 70 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %rq, %rk, %holds, %reach) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0>, mask = [["or", {test = "le", rest = #m13, query = 0 : i64, key = 1 : i64}, {test = "le", rest = #m2, query = 0 : i64, key = 0 : i64, operands = array<i64: 1, 0>, coefficients = array<i64: 1, -1>}], {test = "holds", operand = 2 : i64}, {test = "le", rest = #m14, query = 0 : i64, key = 1 : i64, operands = array<i64: 3>, coefficients = array<i64: -1>}], index_labels = [array<i64: 0, 1>, array<i64: 0, 2>, array<i64: 0, 2>, array<i64: 0, 1>], scale = 0.125 : f64, rate = 0.25 : f64, site = 5 : i64}> :
    (tensor<?x?x2x48xf32, #m17>, tensor<?x?x1x48xf32, #m18>, tensor<?x?x1x80xf32, #m19>, tensor<?x?xi32, #m15>, tensor<?x?xi32, #m16>, tensor<?x?xi1, #m16>, tensor<?x?xi32, #m15>) -> (tensor<?x?x2x80xf32, #m20>, tensor<?x2x?xf32, #m21>, tensor<?x2x?xf32, #m21>)
  tenon.output 0 "y", %y : tensor<?x?x2x80xf32, #m20>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m21>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m21>
  return
}

// A step, scores of segments and of distances.
func.func @capped(%I: index, %M: index, %B: index, %q: tensor<?x?x2x32xf32, #m23>, %k: tensor<?x?x2x32xf32, #m5>, %v: tensor<?x?x2x32xf32, #m5>, %g: tensor<?x?x2x2xf32, #m24>, %t: tensor<?x2xf32, #m25>, %sq: tensor<?x?xi32, #m15> {test.bound = 3 : i64}, %sk: tensor<?x?xi32, #m16> {test.bound = 3 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %g, %t, %sq, %sk) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 2, 0>, place = [{rest = #m22, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m0, query = -1 : i64, key = 1 : i64}], select = ["not", {test = "eq", rest = #m14, query = 0 : i64, key = 0 : i64, operands = array<i64: 0, 1>, coefficients = array<i64: 1, -1>}], index_labels = [array<i64: 0, 1>, array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
  ^bb0(%x: f32):
    %c = arith.constant 2.0 : f32
    %one = arith.constant 1.0 : f32
    %scaled = arith.divf %x, %c : f32
    %tanh = math.tanh %scaled : f32
    %capped = arith.mulf %c, %tanh : f32
    %square = arith.mulf %tanh, %tanh : f32
    %slope = arith.subf %one, %square : f32
    "tenon.yield"(%capped, %slope) : (f32, f32) -> ()
  }) :
    (tensor<?x?x2x32xf32, #m23>, tensor<?x?x2x32xf32, #m5>, tensor<?x?x2x32xf32, #m5>, tensor<?x?x2x2xf32, #m24>, tensor<?x2xf32, #m25>, tensor<?x?xi32, #m15>, tensor<?x?xi32, #m16>) -> (tensor<?x?x2x32xf32, #m23>, tensor<?x2x?xf32, #m21>, tensor<?x2x?xf32, #m21>)
  tenon.output 0 "y", %y : tensor<?x?x2x32xf32, #m23>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m21>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m21>
  return
}

// Wide heads.
func.func @wide(%I: index, %M: index, %B: index, %q: tensor<?x?x1x128xf32, #m26>, %k: tensor<?x?x1x128xf32, #m27>, %v: tensor<?x?x1x128xf32, #m27>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = #m0, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.5 : f64, site = 5 : i64}> :
    (tensor<?x?x1x128xf32, #m26>, tensor<?x?x1x128xf32, #m27>, tensor<?x?x1x128xf32, #m27>) -> (tensor<?x?x1x128xf32, #m26>, tensor<?x1x?xf32, #m12>, tensor<?x1x?xf32, #m12>)
  tenon.output 0 "y", %y : tensor<?x?x1x128xf32, #m26>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m12>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m12>
  return
}

func.func @widest(%I: index, %M: index, %B: index, %q: tensor<?x?x1x256xf32, #m28>, %k: tensor<?x?x1x256xf32, #m29>, %v: tensor<?x?x1x128xf32, #m27>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x256xf32, #m28>, tensor<?x?x1x256xf32, #m29>, tensor<?x?x1x128xf32, #m27>) -> (tensor<?x?x1x128xf32, #m26>, tensor<?x1x?xf32, #m12>, tensor<?x1x?xf32, #m12>)
  tenon.output 0 "y", %y : tensor<?x?x1x128xf32, #m26>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m12>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m12>
  return
}

// Keys and values that are rounded when they are read, as states keep them.
func.func @rounded(%I: index, %M: index, %B: index, %q: tensor<?x?x2x32xbf16, #m23>, %k: tensor<?x?x1x32xf32, #m30>, %v: tensor<?x?x1x32xf32, #m30>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = #m0, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x32xbf16, #m23>, tensor<?x?x1x32xf32, #m30>, tensor<?x?x1x32xf32, #m30>) -> (tensor<?x?x2x32xbf16, #m23>, tensor<?x2x?xf32, #m21>, tensor<?x2x?xf32, #m21>)
  tenon.output 0 "y", %y : tensor<?x?x2x32xbf16, #m23>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m21>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m21>
  return
}

// Relative keys.
func.func @relative(%I: index, %M: index, %B: index, %q: tensor<?x?x2x64xf32, #m31>, %k: tensor<?x?x2x64xf32, #m4>, %v: tensor<?x?x2x64xf32, #m4>, %p: tensor<?x?x2x64xf32, #m31>, %r: tensor<?x2x64xf32, #m32>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, place = [{rest = #m22, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m0, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x64xf32, #m31>, tensor<?x?x2x64xf32, #m4>, tensor<?x?x2x64xf32, #m4>, tensor<?x?x2x64xf32, #m31>, tensor<?x2x64xf32, #m32>) -> (tensor<?x?x2x64xf32, #m31>, tensor<?x2x?xf32, #m21>, tensor<?x2x?xf32, #m21>)
  tenon.output 0 "y", %y : tensor<?x?x2x64xf32, #m31>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m21>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m21>
  return
}

// Relative keys of a wider head; rows of the batch that read backwards; segments, a permutation.
func.func @reversed(%I: index, %M: index, %B: index, %q: tensor<?x?x1x96xf32, #m36>, %k: tensor<?x?x1x96xf32, #m37>, %v: tensor<?x?x1x32xf32, #m30>, %p: tensor<?x?x1x96xf32, #m36>, %r: tensor<?x1x96xf32, #m38>, %g: tensor<?x?x1x2xf32, #m39>, %t: tensor<?x1xf32, #m40>, %back: tensor<?xi1, #m1>, %rq: tensor<?x?xi32, #m15> {test.bound = 60 : i64}, %rk: tensor<?x?xi32, #m16> {test.bound = 60 : i64}, %sq: tensor<?x?xi32, #m15> {test.bound = 3 : i64}, %sk: tensor<?x?xi32, #m16> {test.bound = 3 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %g, %t, %back, %rq, %rk, %sq, %sk) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 5, 0>, back = 0 : i64, place = [{rest = #m34, query = 1 : i64, key = -1 : i64}, {rest = #m35, query = -1 : i64, key = 1 : i64}], mask = [["or", {test = "le", rest = #m13, query = 0 : i64, key = 1 : i64}, {test = "le", rest = #m2, query = 0 : i64, key = 0 : i64, operands = array<i64: 2, 1>, coefficients = array<i64: 1, -1>}], ["not", {test = "eq", rest = #m33, query = 0 : i64, key = 1 : i64}]], select = ["not", {test = "eq", rest = #m14, query = 0 : i64, key = 0 : i64, operands = array<i64: 3, 4>, coefficients = array<i64: 1, -1>}], index_labels = [array<i64: 0>, array<i64: 0, 1>, array<i64: 0, 2>, array<i64: 0, 1>, array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.25 : f64, site = 5 : i64}> :
    (tensor<?x?x1x96xf32, #m36>, tensor<?x?x1x96xf32, #m37>, tensor<?x?x1x32xf32, #m30>, tensor<?x?x1x96xf32, #m36>, tensor<?x1x96xf32, #m38>, tensor<?x?x1x2xf32, #m39>, tensor<?x1xf32, #m40>, tensor<?xi1, #m1>, tensor<?x?xi32, #m15>, tensor<?x?xi32, #m16>, tensor<?x?xi32, #m15>, tensor<?x?xi32, #m16>) -> (tensor<?x?x1x32xf32, #m41>, tensor<?x1x?xf32, #m12>, tensor<?x1x?xf32, #m12>)
  tenon.output 0 "y", %y : tensor<?x?x1x32xf32, #m41>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m12>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m12>
  return
}

// Two groups of rows in a warp, another tile.
func.func @cut(%I: index, %M: index, %B: index, %q: tensor<?x?x1x32xf32, #m41>, %k: tensor<?x?x1x32xf32, #m30>, %v: tensor<?x?x1x48xf32, #m18>, %p: tensor<?x?x1x32xf32, #m41>, %r: tensor<?x1x32xf32, #m42>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, place = [{rest = #m22, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m0, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> {tenon.chosen = {sm_80 = {form = "mma", rows = 32 : i64, warp_rows = 32 : i64, keys = 16 : i64, registers = 255 : i64}}} :
    (tensor<?x?x1x32xf32, #m41>, tensor<?x?x1x32xf32, #m30>, tensor<?x?x1x48xf32, #m18>, tensor<?x?x1x32xf32, #m41>, tensor<?x1x32xf32, #m42>) -> (tensor<?x?x1x48xf32, #m43>, tensor<?x1x?xf32, #m12>, tensor<?x1x?xf32, #m12>)
  tenon.output 0 "y", %y : tensor<?x?x1x48xf32, #m43>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m12>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m12>
  return
}
