// Contractions of operands whose parts lie in several tensors, joined along rows, steps of K, columns or entries of a batch, or some rows of each entry: empty parts, parts that end in the middle of a tile, open and known sizes.
// RUN: tenon-kernel-test %s --dims=1,1,1 --dims=2,3,0 --dims=17,2,6 --dims=45,3,91 --tolerance=1e-4 | FileCheck %s
// CHECK: ok:
// RUN: not tenon-kernel-test %s --tier=portable --dims=2,3,5 --tolerance=1e-4 --corrupt=1e-3 | FileCheck %s --check-prefix=CORRUPT
// CORRUPT: rows dims 2,3,5 tier portable: output 0[0] is
// CORRUPT: FAILED

// Rows of A in two ranges, of which the first may be empty: y[b,u,f] = sum_d [m; x][b,u,d] w[f,d]
func.func @rows(%T: index, %B: index, %M: index, %m: tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d2, 24)>>, %x: tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d0, 24)>>, %w: tensor<40x24xf32>) {
  %y = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 24)>>, tensor<40x24xf32> -> tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>> {
  ^bb0(%b: index, %u: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %u, %f], %sum : f32
  } a {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d2, 24)>> -> f32
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d0, 24)>> -> f32
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f32
    tenon.yield %s1 : f32
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>>
  return
}

// Several blocks of rows, of K and of columns.
func.func @rows_wide(%T: index, %B: index, %M: index, %m: tensor<?x?x900xf64, affine_map<(d0, d1, d2) -> (d1, d2, 900)>>, %x: tensor<?x?x900xf64, affine_map<(d0, d1, d2) -> (d1, d0, 900)>>, %w: tensor<300x900xf64>) {
  %y = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x900xf64, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 900)>>, tensor<300x900xf64> -> tensor<?x?x300xf64, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 300)>> {
  ^bb0(%b: index, %u: index, %f: index, %sum: f64):
    tenon.put 0 [%b, %u, %f], %sum : f64
  } a {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x?x900xf64, affine_map<(d0, d1, d2) -> (d1, d2, 900)>> -> f64
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x?x900xf64, affine_map<(d0, d1, d2) -> (d1, d0, 900)>> -> f64
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f64
    tenon.yield %s1 : f64
  }
  tenon.output 0 "y", %y : tensor<?x?x300xf64, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 300)>>
  return
}

// Rows whole pages apart go through scratch.
func.func @rows_page(%T: index, %B: index, %M: index, %m: tensor<?x?x1024xf32, affine_map<(d0, d1, d2) -> (d1, d2, 1024)>>, %x: tensor<?x?x1024xf32, affine_map<(d0, d1, d2) -> (d1, d0, 1024)>>, %w: tensor<40x1024xf32>) {
  %y = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x1024xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 1024)>>, tensor<40x1024xf32> -> tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>> {
  ^bb0(%b: index, %u: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %u, %f], %sum : f32
  } a {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x?x1024xf32, affine_map<(d0, d1, d2) -> (d1, d2, 1024)>> -> f32
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x?x1024xf32, affine_map<(d0, d1, d2) -> (d1, d0, 1024)>> -> f32
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f32
    tenon.yield %s1 : f32
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>>
  return
}

// Known sizes: strips end where a range does.
func.func @rows_known(%T: index, %B: index, %M: index, %m: tensor<?x37x24xf32, affine_map<(d0, d1, d2) -> (d1, 37, 24)>>, %x: tensor<?x30x24xf32, affine_map<(d0, d1, d2) -> (d1, 30, 24)>>, %w: tensor<40x24xf32>) {
  %y = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<?x67x24xf32, affine_map<(d0, d1, d2) -> (d1, 67, 24)>>, tensor<40x24xf32> -> tensor<?x67x40xf32, affine_map<(d0, d1, d2) -> (d1, 67, 40)>> {
  ^bb0(%b: index, %u: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %u, %f], %sum : f32
  } a {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (36)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x37x24xf32, affine_map<(d0, d1, d2) -> (d1, 37, 24)>> -> f32
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (37)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (29)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x30x24xf32, affine_map<(d0, d1, d2) -> (d1, 30, 24)>> -> f32
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f32
    tenon.yield %s1 : f32
  }
  tenon.output 0 "y", %y : tensor<?x67x40xf32, affine_map<(d0, d1, d2) -> (d1, 67, 40)>>
  return
}

// 16 bits, widened into scratch or read in place by pairs and tiles; an odd K.
func.func @rows_bf16(%T: index, %B: index, %M: index, %m: tensor<?x?x39xbf16, affine_map<(d0, d1, d2) -> (d1, d2, 39)>>, %x: tensor<?x?x39xbf16, affine_map<(d0, d1, d2) -> (d1, d0, 39)>>, %w: tensor<40x39xbf16>) {
  %y = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x39xbf16, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 39)>>, tensor<40x39xbf16> -> tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>> {
  ^bb0(%b: index, %u: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %u, %f], %sum : f32
  } a {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x?x39xbf16, affine_map<(d0, d1, d2) -> (d1, d2, 39)>> -> bf16
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x?x39xbf16, affine_map<(d0, d1, d2) -> (d1, d0, 39)>> -> bf16
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : bf16
    tenon.yield %s1 : bf16
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>>
  return
}

// With tiles, several blocks of K and steps behind the last whole 32.
func.func @rows_bf16_wide(%T: index, %B: index, %M: index, %m: tensor<?x?x1096xbf16, affine_map<(d0, d1, d2) -> (d1, d2, 1096)>>, %x: tensor<?x?x1096xbf16, affine_map<(d0, d1, d2) -> (d1, d0, 1096)>>, %w: tensor<72x1096xbf16>) {
  %y = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x1096xbf16, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 1096)>>, tensor<72x1096xbf16> -> tensor<?x?x72xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 72)>> {
  ^bb0(%b: index, %u: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %u, %f], %sum : f32
  } a {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x?x1096xbf16, affine_map<(d0, d1, d2) -> (d1, d2, 1096)>> -> bf16
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x?x1096xbf16, affine_map<(d0, d1, d2) -> (d1, d0, 1096)>> -> bf16
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : bf16
    tenon.yield %s1 : bf16
  }
  tenon.output 0 "y", %y : tensor<?x?x72xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 72)>>
  return
}

func.func @rows_f16(%T: index, %B: index, %M: index, %m: tensor<?x?x24xf16, affine_map<(d0, d1, d2) -> (d1, d2, 24)>>, %x: tensor<?x?x24xf16, affine_map<(d0, d1, d2) -> (d1, d0, 24)>>, %w: tensor<40x24xf16>) {
  %y = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x24xf16, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 24)>>, tensor<40x24xf16> -> tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>> {
  ^bb0(%b: index, %u: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %u, %f], %sum : f32
  } a {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x?x24xf16, affine_map<(d0, d1, d2) -> (d1, d2, 24)>> -> f16
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x?x24xf16, affine_map<(d0, d1, d2) -> (d1, d0, 24)>> -> f16
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f16
    tenon.yield %s1 : f16
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>>
  return
}

// Steps of K in ranges, packed from where they lie: dw[f,d] = sum_bu dy[b,u,f] [m; x][b,u,d]
func.func @steps(%T: index, %B: index, %M: index, %m: tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d2, 24)>>, %x: tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d0, 24)>>, %dy: tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>>) {
  %dw = tenon.gemm %dy[2, 3, 0], element[2, 3, 1] rank 2 : tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>>, tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 24)>> -> tensor<40x24xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  } b {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d2, 24)>> -> f32
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d0, 24)>> -> f32
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f32
    tenon.yield %s1 : f32
  }
  tenon.output 0 "dw", %dw : tensor<40x24xf32>
  return
}

// Several blocks of K, of rows and of columns.
func.func @steps_wide(%T: index, %B: index, %M: index, %m: tensor<?x?x300xf64, affine_map<(d0, d1, d2) -> (d1, d2, 300)>>, %x: tensor<?x?x300xf64, affine_map<(d0, d1, d2) -> (d1, d0, 300)>>, %dy: tensor<?x?x420xf64, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 420)>>) {
  %dw = tenon.gemm %dy[2, 3, 0], element[2, 3, 1] rank 2 : tensor<?x?x420xf64, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 420)>>, tensor<?x?x300xf64, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 300)>> -> tensor<420x300xf64> {
  ^bb0(%f: index, %d: index, %sum: f64):
    tenon.put 0 [%f, %d], %sum : f64
  } b {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x?x300xf64, affine_map<(d0, d1, d2) -> (d1, d2, 300)>> -> f64
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x?x300xf64, affine_map<(d0, d1, d2) -> (d1, d0, 300)>> -> f64
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f64
    tenon.yield %s1 : f64
  }
  tenon.output 0 "dw", %dw : tensor<420x300xf64>
  return
}

// The same as A: its columns are copied into scratch.
func.func @steps_of_rows(%T: index, %B: index, %M: index, %m: tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d2, 24)>>, %x: tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d0, 24)>>, %dy: tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>>) {
  %dw = tenon.gemm %dy[2, 3, 1], element[2, 3, 0] rank 2 : tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>>, tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 24)>> -> tensor<24x40xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  } b {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d2, 24)>> -> f32
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d0, 24)>> -> f32
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f32
    tenon.yield %s1 : f32
  }
  tenon.output 0 "dw", %dw : tensor<24x40xf32>
  return
}

// Ranges that begin at any step are copied, so that no pair is cut ..
func.func @steps_bf16(%T: index, %B: index, %M: index, %m: tensor<?x?x24xbf16, affine_map<(d0, d1, d2) -> (d1, d2, 24)>>, %x: tensor<?x?x24xbf16, affine_map<(d0, d1, d2) -> (d1, d0, 24)>>, %dy: tensor<?x?x40xbf16, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>>) {
  %dw = tenon.gemm %dy[2, 3, 0], element[2, 3, 1] rank 2 : tensor<?x?x40xbf16, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>>, tensor<?x?x24xbf16, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 24)>> -> tensor<40x24xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  } b {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x?x24xbf16, affine_map<(d0, d1, d2) -> (d1, d2, 24)>> -> bf16
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x?x24xbf16, affine_map<(d0, d1, d2) -> (d1, d0, 24)>> -> bf16
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : bf16
    tenon.yield %s1 : bf16
  }
  tenon.output 0 "dw", %dw : tensor<40x24xf32>
  return
}

// .. and those that begin at even steps are packed in place.
func.func @steps_bf16_even(%T: index, %B: index, %M: index, %m: tensor<?x38x24xbf16, affine_map<(d0, d1, d2) -> (d1, 38, 24)>>, %x: tensor<?x26x24xbf16, affine_map<(d0, d1, d2) -> (d1, 26, 24)>>, %dy: tensor<?x64x40xbf16, affine_map<(d0, d1, d2) -> (d1, 64, 40)>>) {
  %dw = tenon.gemm %dy[2, 3, 0], element[2, 3, 1] rank 2 : tensor<?x64x40xbf16, affine_map<(d0, d1, d2) -> (d1, 64, 40)>>, tensor<?x64x24xbf16, affine_map<(d0, d1, d2) -> (d1, 64, 24)>> -> tensor<40x24xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  } b {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (37)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x38x24xbf16, affine_map<(d0, d1, d2) -> (d1, 38, 24)>> -> bf16
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (38)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (25)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x26x24xbf16, affine_map<(d0, d1, d2) -> (d1, 26, 24)>> -> bf16
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : bf16
    tenon.yield %s1 : bf16
  }
  tenon.output 0 "dw", %dw : tensor<40x24xf32>
  return
}

func.func @steps_bf16_odd(%T: index, %B: index, %M: index, %m: tensor<?x37x24xbf16, affine_map<(d0, d1, d2) -> (d1, 37, 24)>>, %x: tensor<?x26x24xbf16, affine_map<(d0, d1, d2) -> (d1, 26, 24)>>, %dy: tensor<?x63x40xbf16, affine_map<(d0, d1, d2) -> (d1, 63, 40)>>) {
  %dw = tenon.gemm %dy[2, 3, 0], element[2, 3, 1] rank 2 : tensor<?x63x40xbf16, affine_map<(d0, d1, d2) -> (d1, 63, 40)>>, tensor<?x63x24xbf16, affine_map<(d0, d1, d2) -> (d1, 63, 24)>> -> tensor<40x24xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  } b {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (36)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x37x24xbf16, affine_map<(d0, d1, d2) -> (d1, 37, 24)>> -> bf16
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (37)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (25)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x26x24xbf16, affine_map<(d0, d1, d2) -> (d1, 26, 24)>> -> bf16
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : bf16
    tenon.yield %s1 : bf16
  }
  tenon.output 0 "dw", %dw : tensor<40x24xf32>
  return
}

func.func @steps_bf16_of_rows(%T: index, %B: index, %M: index, %m: tensor<?x?x24xbf16, affine_map<(d0, d1, d2) -> (d1, d2, 24)>>, %x: tensor<?x?x24xbf16, affine_map<(d0, d1, d2) -> (d1, d0, 24)>>, %dy: tensor<?x?x40xbf16, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>>) {
  %dw = tenon.gemm %dy[2, 3, 1], element[2, 3, 0] rank 2 : tensor<?x?x40xbf16, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>>, tensor<?x?x24xbf16, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 24)>> -> tensor<24x40xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  } b {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x?x24xbf16, affine_map<(d0, d1, d2) -> (d1, d2, 24)>> -> bf16
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x?x24xbf16, affine_map<(d0, d1, d2) -> (d1, d0, 24)>> -> bf16
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : bf16
    tenon.yield %s1 : bf16
  }
  tenon.output 0 "dw", %dw : tensor<24x40xf32>
  return
}

func.func @steps_f16(%T: index, %B: index, %M: index, %m: tensor<?x?x24xf16, affine_map<(d0, d1, d2) -> (d1, d2, 24)>>, %x: tensor<?x?x24xf16, affine_map<(d0, d1, d2) -> (d1, d0, 24)>>, %dy: tensor<?x?x40xf16, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>>) {
  %dw = tenon.gemm %dy[2, 3, 0], element[2, 3, 1] rank 2 : tensor<?x?x40xf16, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 40)>>, tensor<?x?x24xf16, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 24)>> -> tensor<40x24xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  } b {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x?x24xf16, affine_map<(d0, d1, d2) -> (d1, d2, 24)>> -> f16
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x?x24xf16, affine_map<(d0, d1, d2) -> (d1, d0, 24)>> -> f16
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f16
    tenon.yield %s1 : f16
  }
  tenon.output 0 "dw", %dw : tensor<40x24xf32>
  return
}

// Three ranges.
func.func @three(%T: index, %B: index, %M: index, %m: tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d2, 24)>>, %x: tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d0, 24)>>, %z: tensor<?x7x24xf32, affine_map<(d0, d1, d2) -> (d1, 7, 24)>>, %w: tensor<40x24xf32>) {
  %y = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0 + 7, 24)>>, tensor<40x24xf32> -> tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0 + 7, 40)>> {
  ^bb0(%b: index, %u: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %u, %f], %sum : f32
  } a {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d2, 24)>> -> f32
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d0, 24)>> -> f32
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f32
    %low2 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 + d0)>
    %last2 = tenon.size_value affine_map<(d0, d1, d2) -> (6)>
    %rest2 = arith.subi %j, %low2 : index
    %least2 = arith.minsi %rest2, %last2 : index
    %own2 = arith.maxsi %zero, %least2 : index
    %e2 = tenon.at %z[%i, %own2, %k] : tensor<?x7x24xf32, affine_map<(d0, d1, d2) -> (d1, 7, 24)>> -> f32
    %is2 = arith.cmpi sle, %low2, %j : index
    %s2 = arith.select %is2, %e2, %s1 : f32
    tenon.yield %s2 : f32
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0 + 7, 40)>>
  return
}

// Joined along the contiguous direction of K: pieces of a row are copied into scratch.
func.func @features(%T: index, %B: index, %M: index, %m: tensor<?x?x9xf32, affine_map<(d0, d1, d2) -> (d1, d0, 9)>>, %x: tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d0, 24)>>, %w: tensor<40x33xf32>) {
  %y = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x33xf32, affine_map<(d0, d1, d2) -> (d1, d0, 33)>>, tensor<40x33xf32> -> tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d0, 40)>> {
  ^bb0(%b: index, %u: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %u, %f], %sum : f32
  } a {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (8)>
    %rest0 = arith.subi %k, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %j, %own0] : tensor<?x?x9xf32, affine_map<(d0, d1, d2) -> (d1, d0, 9)>> -> f32
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (9)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (23)>
    %rest1 = arith.subi %k, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %j, %own1] : tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d0, 24)>> -> f32
    %is1 = arith.cmpi sle, %low1, %k : index
    %s1 = arith.select %is1, %e1, %e0 : f32
    tenon.yield %s1 : f32
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d1, d0, 40)>>
  return
}

// Columns in ranges, a batch of heads: s[b,h,t,u] = sum_e q[b,t,h,e] [m; x][b,u,h,e]
func.func @heads(%T: index, %B: index, %M: index, %q: tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d0, 3, 8)>>, %m: tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d2, 3, 8)>>, %x: tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d0, 3, 8)>>) {
  %y = tenon.gemm %q[0, 2, 1, 4], element[0, 3, 1, 4] rank 4 : tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d0, 3, 8)>>, tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 3, 8)>> -> tensor<?x3x?x?xf32, affine_map<(d0, d1, d2) -> (d1, 3, d0, d2 + d0)>> {
  ^bb0(%b: index, %h: index, %t: index, %u: index, %sum: f32):
    tenon.put 0 [%b, %h, %t, %u], %sum : f32
  } b {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k, %l] : tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d2, 3, 8)>> -> f32
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k, %l] : tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d0, 3, 8)>> -> f32
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f32
    tenon.yield %s1 : f32
  }
  tenon.output 0 "y", %y : tensor<?x3x?x?xf32, affine_map<(d0, d1, d2) -> (d1, 3, d0, d2 + d0)>>
  return
}

// Steps in ranges for each head by itself: y[b,t,h,e] = sum_u p[b,h,t,u] [m; x][b,u,h,e]
func.func @values(%T: index, %B: index, %M: index, %p: tensor<?x3x?x?xf32, affine_map<(d0, d1, d2) -> (d1, 3, d0, d2 + d0)>>, %m: tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d2, 3, 8)>>, %x: tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d0, 3, 8)>>) {
  %y = tenon.gemm %p[0, 2, 1, 4], element[0, 4, 2, 3] rank 4 : tensor<?x3x?x?xf32, affine_map<(d0, d1, d2) -> (d1, 3, d0, d2 + d0)>>, tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d2 + d0, 3, 8)>> -> tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d0, 3, 8)>> {
  ^bb0(%b: index, %t: index, %h: index, %e: index, %sum: f32):
    tenon.put 0 [%b, %t, %h, %e], %sum : f32
  } b {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k, %l] : tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d2, 3, 8)>> -> f32
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d0 - 1)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k, %l] : tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d0, 3, 8)>> -> f32
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f32
    tenon.yield %s1 : f32
  }
  tenon.output 0 "y", %y : tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d0, 3, 8)>>
  return
}

// Joined along what both operands share.
func.func @entries(%T: index, %B: index, %M: index, %m: tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 24)>>, %x: tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d0, 24)>>, %w: tensor<?x40x24xf32, affine_map<(d0, d1, d2) -> (d2 + d1, 40, 24)>>) {
  %y = tenon.gemm element[0, 1, 3], %w[0, 2, 3] rank 3 : tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d2 + d1, d0, 24)>>, tensor<?x40x24xf32, affine_map<(d0, d1, d2) -> (d2 + d1, 40, 24)>> -> tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d2 + d1, d0, 40)>> {
  ^bb0(%b: index, %u: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %u, %f], %sum : f32
  } a {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<(d0, d1, d2) -> (0)>
    %last0 = tenon.size_value affine_map<(d0, d1, d2) -> (d2 - 1)>
    %rest0 = arith.subi %i, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%own0, %j, %k] : tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 24)>> -> f32
    %low1 = tenon.size_value affine_map<(d0, d1, d2) -> (d2)>
    %last1 = tenon.size_value affine_map<(d0, d1, d2) -> (d1 - 1)>
    %rest1 = arith.subi %i, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%own1, %j, %k] : tensor<?x?x24xf32, affine_map<(d0, d1, d2) -> (d1, d0, 24)>> -> f32
    %is1 = arith.cmpi sle, %low1, %i : index
    %s1 = arith.select %is1, %e1, %e0 : f32
    tenon.yield %s1 : f32
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, affine_map<(d0, d1, d2) -> (d2 + d1, d0, 40)>>
  return
}

// Some rows of each entry: y[b,t,f] = sum_he x[b,7 + t,h,e] w[h,e,f]
func.func @slice(%T: index, %B: index, %M: index, %x: tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d0 + 40, 3, 8)>>, %w: tensor<3x8x40xf32>) {
  %y = tenon.gemm element[0, 1, 3, 4], %w[3, 4, 2] rank 3 : tensor<?x33x3x8xf32, affine_map<(d0, d1, d2) -> (d1, 33, 3, 8)>>, tensor<3x8x40xf32> -> tensor<?x33x40xf32, affine_map<(d0, d1, d2) -> (d1, 33, 40)>> {
  ^bb0(%b: index, %t: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %t, %f], %sum : f32
  } a {
  ^bb0(%b: index, %t: index, %h: index, %e: index):
    %low = arith.constant 7 : index
    %u = arith.addi %low, %t : index
    %v = tenon.at %x[%b, %u, %h, %e] : tensor<?x?x3x8xf32, affine_map<(d0, d1, d2) -> (d1, d0 + 40, 3, 8)>> -> f32
    tenon.yield %v : f32
  }
  tenon.output 0 "y", %y : tensor<?x33x40xf32, affine_map<(d0, d1, d2) -> (d1, 33, 40)>>
  return
}

func.func @slice_bf16(%T: index, %B: index, %M: index, %x: tensor<?x?x3x8xbf16, affine_map<(d0, d1, d2) -> (d1, d0 + 40, 3, 8)>>, %w: tensor<3x8x40xbf16>) {
  %y = tenon.gemm element[0, 1, 3, 4], %w[3, 4, 2] rank 3 : tensor<?x33x3x8xbf16, affine_map<(d0, d1, d2) -> (d1, 33, 3, 8)>>, tensor<3x8x40xbf16> -> tensor<?x33x40xf32, affine_map<(d0, d1, d2) -> (d1, 33, 40)>> {
  ^bb0(%b: index, %t: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %t, %f], %sum : f32
  } a {
  ^bb0(%b: index, %t: index, %h: index, %e: index):
    %low = arith.constant 7 : index
    %u = arith.addi %low, %t : index
    %v = tenon.at %x[%b, %u, %h, %e] : tensor<?x?x3x8xbf16, affine_map<(d0, d1, d2) -> (d1, d0 + 40, 3, 8)>> -> bf16
    tenon.yield %v : bf16
  }
  tenon.output 0 "y", %y : tensor<?x33x40xf32, affine_map<(d0, d1, d2) -> (d1, 33, 40)>>
  return
}
