// A step of attention with a function that no op of the tensor form has.
func.func @erf(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> ({
  ^bb0(%sum: f32):
    %e = math.erf %sum : f32
    tenon.yield %e, %e : f32, f32
  }) : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}
