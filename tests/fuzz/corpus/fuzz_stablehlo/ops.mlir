func.func @main(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %k: tensor<3x3x3x8xf32>, %i: tensor<1x8x8x3xf32>, %z: tensor<f32>) {
%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
%1 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1]]} {g = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x8xf32>) -> tensor<1x8x8x8xf32>
%2 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 1>}> ({
^bb0(%x: tensor<f32>, %y: tensor<f32>):
  stablehlo.return %x : tensor<f32>
}) : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
%3 = stablehlo.custom_call @gemm(%a, %b) {backend_config = ""} : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xcomplex<f32>>
%4:2 = stablehlo.optimization_barrier %0, %2 : tensor<4x8xf32>, tensor<4xf32>
%5 = chlo.square %2 : tensor<4xf32> -> tensor<4xf32>
return %4#0, %1, %5 : tensor<4x8xf32>, tensor<1x8x8x8xf32>, tensor<4xf32>
}
