module @m {
  sdy.mesh @mesh = <["a"=2]> loc(#loc)
  func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %0:2 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%arg1: tensor<4xf32>) {
      %1 = sdy.manual_computation() manual_axes={} () {
        sdy.return %arg1 : tensor<4xf32>
      } : () -> tensor<4xf32>
      sdy.return %1, %arg0 : tensor<4xf32>, tensor<8xf32>
    } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    return %0#1 : tensor<8xf32>
  }
}
#loc = loc(unknown)
