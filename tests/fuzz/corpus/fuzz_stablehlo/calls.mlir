module @m attributes {a = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4x8xf32> {jax.result_info = ""}) {
    %0:2 = call @f(%arg0) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xbf16>) loc(#loc1)
    %1 = stablehlo.add %0#0, %arg0 : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
  func.func private @f(%arg0: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xbf16>) {
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %1 = stablehlo.convert %0 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
    return %0, %1 : tensor<4x8xf32>, tensor<4x8xbf16>
  }
}
#loc1 = loc("x")
