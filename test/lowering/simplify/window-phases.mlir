// Windows between whose elements zeros lie: the elements of each remainder are a contraction of their own, of the places that meet them.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify{after-differentiation=true}))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify{after-differentiation=true}))' --remark-format=emitRemark --remarks-filter-missed=simplify -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
#dy = affine_map<(d0, d1) -> (d1, 6)>
#windows = affine_map<(d0, d1) -> (d1 * 2 - 1, 3, 6)>
#dx = affine_map<(d0, d1) -> (d1 * 2 - 1, 5)>

// Steps of 2 of three places: even elements meet the middle one, odd ones the two beside it.
// CHECK-LABEL: func.func @steps
// CHECK-DAG: %[[FIRST:.*]] = tenon.reshape %arg0 [2, 1] : tensor<4x6xf32> -> tensor<4x1x6xf32>
// CHECK-DAG: tenon.window %arg1 [1] stride [2] dilation [1] pad [-1] divisor [1] fill 0.000000e+00 : tensor<6x3x5xf32> -> tensor<6x1x1x5xf32>
// CHECK: %[[EVEN:.*]] = tenon.dot %[[FIRST]][0, 2, 3], %{{.*}}[3, 2, 1] : tensor<4x1x6xf32>, tensor<6x1x5xf32> -> tensor<4x5xf32>
// CHECK: %[[E:.*]] = tenon.reshape %[[EVEN]]
// CHECK: %[[SECOND:.*]] = tenon.window %arg0 [0] stride [1] dilation [-1] pad [-1] divisor [1] fill 0.000000e+00 : tensor<4x6xf32> -> tensor<4x2x6xf32>
// CHECK: tenon.window %arg1 [1] stride [2] dilation [1] pad [0] divisor [1] fill 0.000000e+00 : tensor<6x3x5xf32> -> tensor<6x2x1x5xf32>
// CHECK: %[[ODD:.*]] = tenon.dot %[[SECOND]][0, 2, 3], %{{.*}}[3, 2, 1] : tensor<4x2x6xf32>, tensor<6x2x5xf32> -> tensor<4x5xf32>
// CHECK: %[[O:.*]] = tenon.reshape %[[ODD]]
// CHECK: %[[ALL:.*]] = tenon.concat 1 %[[E]], %[[O]]
// CHECK: tenon.reshape %[[ALL]] [-2, 1] : tensor<4x2x5xf32> -> tensor<8x5xf32>
// CHECK-NOT: divisor [2]
func.func @steps(%dy: tensor<4x6xf32>, %w: tensor<6x3x5xf32>) {
  %v = tenon.window %dy [0] stride [1] dilation [-1] pad [-1] divisor [2] fill 0.0 : tensor<4x6xf32> -> tensor<8x3x6xf32>
  %dx = tenon.dot %v[0, 2, 3], %w[3, 2, 1] : tensor<8x3x6xf32>, tensor<6x3x5xf32> -> tensor<8x5xf32>
  tenon.output 0 "dx", %dx : tensor<8x5xf32>
  return
}

// Steps of 4, dilated by 2: odd elements meet nothing. 15 elements are no four phases of one size. Precision is kept.
// CHECK-LABEL: func.func @dilated
// CHECK: %[[ZERO:.*]] = tenon.constant 0.000000e+00 : tensor<4x1x5xf32>
// CHECK: %[[A:.*]] = tenon.dot %{{.*}}[3, 2, 1], %{{.*}}[0, 2, 3] {tenon.compute = bf16} : tensor<6x2x5xf32>, tensor<4x2x6xf32> -> tensor<4x5xf32>
// CHECK: %[[FIRST:.*]] = tenon.reshape %[[A]]
// CHECK: %[[B:.*]] = tenon.dot %{{.*}}[3, 2, 1], %{{.*}}[0, 2, 3] {tenon.compute = bf16} : tensor<6x1x5xf32>, tensor<4x1x6xf32> -> tensor<4x5xf32>
// CHECK: %[[THIRD:.*]] = tenon.reshape %[[B]]
// CHECK: %[[ALL:.*]] = tenon.concat 1 %[[FIRST]], %[[ZERO]], %[[THIRD]], %[[ZERO]]
// CHECK: %[[LONG:.*]] = tenon.reshape %[[ALL]] [-2, 1] : tensor<4x4x5xf32> -> tensor<16x5xf32>
// CHECK: tenon.slice %[[LONG]] 0 from #{{.*}} : tensor<16x5xf32> -> tensor<15x5xf32>
func.func @dilated(%dy: tensor<4x6xf32>, %w: tensor<6x3x5xf32>) {
  %v = tenon.window %dy [0] stride [1] dilation [-2] pad [0] divisor [4] fill 0.0 : tensor<4x6xf32> -> tensor<15x3x6xf32>
  %dx = tenon.dot %w[3, 2, 1], %v[0, 2, 3] {tenon.compute = bf16} : tensor<6x3x5xf32>, tensor<15x3x6xf32> -> tensor<15x5xf32>
  tenon.output 0 "dx", %dx : tensor<15x5xf32>
  return
}

// A size of the run, as a convolution of T2 = (T - 1) div 2 + 1 places has it.
// CHECK-LABEL: func.func @run_time
// CHECK-COUNT-2: tenon.dot
// CHECK: tenon.concat 1 {{.*}} : tensor<?x1x5xf32, #{{.*}}>, tensor<?x1x5xf32, #{{.*}}> -> tensor<?x2x5xf32
// CHECK: tenon.slice
func.func @run_time(%B: index, %T: index, %dy: tensor<?x6xf32, #dy>, %w: tensor<6x3x5xf32>) attributes {tenon.dims = ["B", "T"]} {
  %v = tenon.window %dy [0] stride [1] dilation [-1] pad [-1] divisor [2] fill 0.0 : tensor<?x6xf32, #dy> -> tensor<?x3x6xf32, #windows>
  %dx = tenon.dot %v[0, 2, 3], %w[3, 2, 1] : tensor<?x3x6xf32, #windows>, tensor<6x3x5xf32> -> tensor<?x5xf32, #dx>
  tenon.output 0 "dx", %dx : tensor<?x5xf32, #dx>
  return
}

// Two dimensions, one after the other.
// CHECK-LABEL: func.func @plane
// CHECK-DAG: tenon.dot {{.*}} : tensor<2x6x4x1x4x1xf32>, tensor<6x3x1x1xf32>
// CHECK-DAG: tenon.dot {{.*}} : tensor<2x6x4x1x4x2xf32>, tensor<6x3x1x2xf32>
// CHECK-DAG: tenon.dot {{.*}} : tensor<2x6x4x2x4x1xf32>, tensor<6x3x2x1xf32>
// CHECK-DAG: tenon.dot {{.*}} : tensor<2x6x4x2x4x2xf32>, tensor<6x3x2x2xf32>
// CHECK-NOT: divisor [2
func.func @plane(%dy: tensor<2x6x4x4xf32>, %w: tensor<6x3x3x3xf32>) {
  %v = tenon.window %dy [2, 3] stride [1, 1] dilation [-1, -1] pad [-1, -1] divisor [2, 2] fill 0.0 : tensor<2x6x4x4xf32> -> tensor<2x6x8x3x8x3xf32>
  %dx = tenon.dot %v[0, 4, 2, 5, 3, 6], %w[4, 1, 5, 6] : tensor<2x6x8x3x8x3xf32>, tensor<6x3x3x3xf32> -> tensor<2x3x8x8xf32>
  tenon.output 0 "dx", %dx : tensor<2x3x8x8xf32>
  return
}

// Another fill, windows that step themselves, a factor that has the elements, places that are kept: all stay.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: tenon.dot
// CHECK-NOT: tenon.concat
// WHY: no windows with zeros between what they show
func.func @others(%dy: tensor<4x6xf32>, %w: tensor<6x3x5xf32>, %u: tensor<6x8x3x5xf32>) {
  %a = tenon.window %dy [0] stride [1] dilation [-1] pad [-1] divisor [2] fill 1.0 : tensor<4x6xf32> -> tensor<8x3x6xf32>
  %da = tenon.dot %a[0, 2, 3], %w[3, 2, 1] : tensor<8x3x6xf32>, tensor<6x3x5xf32> -> tensor<8x5xf32>
  %b = tenon.window %dy [0] stride [3] dilation [-1] pad [-1] divisor [2] fill 0.0 : tensor<4x6xf32> -> tensor<3x3x6xf32>
  %db = tenon.dot %b[0, 2, 3], %w[3, 2, 1] : tensor<3x3x6xf32>, tensor<6x3x5xf32> -> tensor<3x5xf32>
  %c = tenon.window %dy [0] stride [1] dilation [-1] pad [-1] divisor [2] fill 0.0 : tensor<4x6xf32> -> tensor<8x3x6xf32>
  %dc = tenon.dot %c[0, 2, 3], %u[3, 0, 2, 1] : tensor<8x3x6xf32>, tensor<6x8x3x5xf32> -> tensor<8x5xf32>
  %dd = tenon.dot %c[0, 1, 3], %w[3, 1, 2] : tensor<8x3x6xf32>, tensor<6x3x5xf32> -> tensor<8x3x5xf32>
  tenon.output 0 "da", %da : tensor<8x5xf32>
  tenon.output 1 "db", %db : tensor<3x5xf32>
  tenon.output 2 "dc", %dc : tensor<8x5xf32>
  tenon.output 3 "dd", %dd : tensor<8x3x5xf32>
  return
}
