func.func @main(%a: tensor<4xf32>, %p: tensor<i32>) {
%c = stablehlo.constant dense<0> : tensor<i32>
%1:2 = stablehlo.while(%i = %c, %x = %a) : tensor<i32>, tensor<4xf32>
cond {
%n = stablehlo.constant dense<5> : tensor<i32>
%2 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
stablehlo.return %2 : tensor<i1>
} do {
%2 = stablehlo.add %i, %c : tensor<i32>
%3 = stablehlo.add %x, %a : tensor<4xf32>
stablehlo.return %2, %3 : tensor<i32>, tensor<4xf32>
}
%6 = "stablehlo.case"(%p) ({
stablehlo.return %1#1 : tensor<4xf32>
}, {
stablehlo.return %a : tensor<4xf32>
}) : (tensor<i32>) -> tensor<4xf32>
return %6 : tensor<4xf32>
}
