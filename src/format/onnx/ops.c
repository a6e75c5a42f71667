/* SPDX-License-Identifier: Apache-2.0 */
/* The table of op types. A type that has no row is costed by the bytes that it
 * reads and writes, and said to be guessed: to know another one, add a row.
 *
 * Rows are sorted by name (a test checks it). A type of another domain than
 * ONNX's own is looked up as DOMAIN.NAME first; com.microsoft's, of which many
 * are meant for ONNX itself, then by its name alone.
 */
#include "format/onnx/ops.h"

#include <stdlib.h>
#include <string.h>

#define NONE regal_onnx_flops_none
#define OUTPUT regal_onnx_flops_output
#define INPUT regal_onnx_flops_input
#define VARIADIC regal_onnx_flops_variadic
#define CONV regal_onnx_flops_conv
#define CONV_TRANSPOSE regal_onnx_flops_conv_transpose
#define GEMM regal_onnx_flops_gemm
#define MATMUL regal_onnx_flops_matmul
#define EINSUM regal_onnx_flops_einsum
#define POOL regal_onnx_flops_pool
#define LRN regal_onnx_flops_lrn
#define RECURRENT regal_onnx_flops_recurrent
#define ATTENTION regal_onnx_flops_attention
#define LINEAR regal_onnx_flops_linear
#define PROJECTED regal_onnx_flops_projected_attention

#define ELEMENTS REGAL_ONNX_ELEMENTWISE
#define LIKE_FIRST REGAL_ONNX_LIKE_FIRST
#define VIEW REGAL_ONNX_VIEW
#define OF_SHAPE REGAL_ONNX_OF_SHAPE
#define RANDOM REGAL_ONNX_RANDOM
#define PART REGAL_ONNX_READS_PART
#define BOOLEAN REGAL_ONNX_BOOLEAN

static const regal_onnx_op_type types[] = {
    {"Abs", OUTPUT, 1, ELEMENTS},
    {"Acos", OUTPUT, 1, ELEMENTS},
    {"Acosh", OUTPUT, 1, ELEMENTS},
    {"Add", OUTPUT, 1, ELEMENTS},
    {"AffineGrid", OUTPUT, 4, 0},
    {"And", OUTPUT, 1, ELEMENTS},
    {"ArgMax", INPUT, 1, 0},
    {"ArgMin", INPUT, 1, 0},
    {"Asin", OUTPUT, 1, ELEMENTS},
    {"Asinh", OUTPUT, 1, ELEMENTS},
    {"Atan", OUTPUT, 1, ELEMENTS},
    {"Atanh", OUTPUT, 1, ELEMENTS},
    {"Attention", ATTENTION, 4, 0},
    {"AveragePool", POOL, 1, 0},
    {"BatchNormalization", OUTPUT, 2, LIKE_FIRST},
    {"Bernoulli", OUTPUT, 1, RANDOM | LIKE_FIRST},
    {"BiasGelu", OUTPUT, 9, ELEMENTS},
    {"BitShift", OUTPUT, 1, ELEMENTS},
    {"BitwiseAnd", OUTPUT, 1, ELEMENTS},
    {"BitwiseNot", OUTPUT, 1, ELEMENTS},
    {"BitwiseOr", OUTPUT, 1, ELEMENTS},
    {"BitwiseXor", OUTPUT, 1, ELEMENTS},
    {"Cast", NONE, 0, 0},
    {"CastLike", NONE, 0, 0},
    {"Ceil", OUTPUT, 1, ELEMENTS},
    {"Celu", OUTPUT, 5, ELEMENTS},
    {"CenterCropPad", NONE, 0, 0},
    {"Clip", OUTPUT, 2, ELEMENTS},
    {"Col2Im", INPUT, 1, 0},
    {"Compress", NONE, 0, PART},
    {"Concat", NONE, 0, 0},
    {"Constant", NONE, 0, 0},
    {"ConstantOfShape", NONE, 0, 0},
    {"Conv", CONV, 1, 0},
    {"ConvInteger", CONV, 1, 0},
    {"ConvTranspose", CONV_TRANSPOSE, 0, 0},
    {"Cos", OUTPUT, 1, ELEMENTS},
    {"Cosh", OUTPUT, 1, ELEMENTS},
    {"CumSum", OUTPUT, 1, LIKE_FIRST},
    {"DeformConv", CONV, 1, 0},
    {"DepthToSpace", NONE, 0, 0},
    {"DequantizeLinear", OUTPUT, 2, 0},
    {"Div", OUTPUT, 1, ELEMENTS},
    {"Dropout", NONE, 0, VIEW},
    {"DynamicQuantizeLinear", INPUT, 4, 0},
    {"Einsum", EINSUM, 0, 0},
    {"Elu", OUTPUT, 3, ELEMENTS},
    {"Equal", OUTPUT, 1, ELEMENTS | BOOLEAN},
    {"Erf", OUTPUT, 1, ELEMENTS},
    {"Exp", OUTPUT, 1, ELEMENTS},
    {"Expand", NONE, 0, 0},
    {"EyeLike", NONE, 0, LIKE_FIRST},
    {"FastGelu", OUTPUT, 9, ELEMENTS},
    {"Flatten", NONE, 0, VIEW},
    {"Floor", OUTPUT, 1, ELEMENTS},
    {"FusedConv", CONV, 1, 0},
    {"FusedGemm", GEMM, 0, 0},
    {"FusedMatMul", MATMUL, 0, 0},
    {"GRU", RECURRENT, 0, 0},
    {"Gather", NONE, 0, PART},
    {"GatherElements", NONE, 0, PART},
    {"GatherND", NONE, 0, PART},
    {"Gelu", OUTPUT, 8, ELEMENTS},
    {"Gemm", GEMM, 0, 0},
    {"GlobalAveragePool", INPUT, 1, 0},
    {"GlobalLpPool", INPUT, 2, 0},
    {"GlobalMaxPool", INPUT, 1, 0},
    {"Greater", OUTPUT, 1, ELEMENTS | BOOLEAN},
    {"GreaterOrEqual", OUTPUT, 1, ELEMENTS | BOOLEAN},
    {"GridSample", OUTPUT, 8, PART},
    {"GroupNormalization", OUTPUT, 8, LIKE_FIRST},
    {"GroupQueryAttention", ATTENTION, 3, LIKE_FIRST},
    {"HardSigmoid", OUTPUT, 3, ELEMENTS},
    {"HardSwish", OUTPUT, 4, ELEMENTS},
    {"Hardmax", OUTPUT, 1, LIKE_FIRST},
    {"Identity", NONE, 0, VIEW},
    {"If", NONE, 0, 0},
    {"InstanceNormalization", OUTPUT, 8, LIKE_FIRST},
    {"IsInf", OUTPUT, 1, ELEMENTS | BOOLEAN},
    {"IsNaN", OUTPUT, 1, ELEMENTS | BOOLEAN},
    {"LRN", LRN, 4, LIKE_FIRST},
    {"LSTM", RECURRENT, 0, 0},
    {"LayerNormalization", OUTPUT, 8, LIKE_FIRST},
    {"LeakyRelu", OUTPUT, 2, ELEMENTS},
    {"Less", OUTPUT, 1, ELEMENTS | BOOLEAN},
    {"LessOrEqual", OUTPUT, 1, ELEMENTS | BOOLEAN},
    {"Log", OUTPUT, 1, ELEMENTS},
    {"LogSoftmax", OUTPUT, 6, LIKE_FIRST},
    {"Loop", NONE, 0, 0},
    {"LpNormalization", OUTPUT, 3, LIKE_FIRST},
    {"LpPool", POOL, 2, 0},
    {"MatMul", MATMUL, 0, 0},
    {"MatMulInteger", MATMUL, 0, 0},
    {"MatMulIntegerToFloat", MATMUL, 0, 0},
    {"MatMulNBits", MATMUL, 0, 0},
    {"Max", VARIADIC, 0, ELEMENTS},
    {"MaxPool", POOL, 1, 0},
    {"MaxRoiPool", INPUT, 1, 0},
    {"MaxUnpool", NONE, 0, 0},
    {"Mean", VARIADIC, 0, ELEMENTS},
    {"MeanVarianceNormalization", OUTPUT, 7, LIKE_FIRST},
    {"Min", VARIADIC, 0, ELEMENTS},
    {"Mish", OUTPUT, 6, ELEMENTS},
    {"Mod", OUTPUT, 1, ELEMENTS},
    {"Mul", OUTPUT, 1, ELEMENTS},
    {"MultiHeadAttention", ATTENTION, 6, LIKE_FIRST},
    {"Multinomial", INPUT, 1, RANDOM},
    {"Neg", OUTPUT, 1, ELEMENTS},
    {"NonZero", NONE, 0, 0},
    {"Not", OUTPUT, 1, ELEMENTS},
    {"OneHot", NONE, 0, 0},
    {"Or", OUTPUT, 1, ELEMENTS},
    {"PRelu", OUTPUT, 2, ELEMENTS},
    {"Pad", NONE, 0, 0},
    {"Pow", OUTPUT, 1, ELEMENTS},
    {"QLinearConv", CONV, 3, 0},
    {"QLinearMatMul", MATMUL, 0, 0},
    {"QuantizeLinear", OUTPUT, 2, 0},
    {"QuickGelu", OUTPUT, 5, ELEMENTS},
    {"RMSNormalization", OUTPUT, 5, LIKE_FIRST},
    {"RNN", RECURRENT, 0, 0},
    {"RandomNormal", OUTPUT, 1, RANDOM},
    {"RandomNormalLike", OUTPUT, 1, RANDOM | LIKE_FIRST},
    {"RandomUniform", OUTPUT, 1, RANDOM},
    {"RandomUniformLike", OUTPUT, 1, RANDOM | LIKE_FIRST},
    {"Range", NONE, 0, 0},
    {"Reciprocal", OUTPUT, 1, ELEMENTS},
    {"ReduceL1", INPUT, 2, 0},
    {"ReduceL2", INPUT, 2, 0},
    {"ReduceLogSum", INPUT, 1, 0},
    {"ReduceLogSumExp", INPUT, 2, 0},
    {"ReduceMax", INPUT, 1, 0},
    {"ReduceMean", INPUT, 1, 0},
    {"ReduceMin", INPUT, 1, 0},
    {"ReduceProd", INPUT, 1, 0},
    {"ReduceSum", INPUT, 1, 0},
    {"ReduceSumSquare", INPUT, 2, 0},
    {"Relu", OUTPUT, 1, ELEMENTS},
    {"Reshape", NONE, 0, VIEW},
    {"Resize", OUTPUT, 4, 0},
    {"ReverseSequence", NONE, 0, 0},
    {"RoiAlign", OUTPUT, 8, PART},
    {"RotaryEmbedding", OUTPUT, 3, LIKE_FIRST},
    {"Round", OUTPUT, 1, ELEMENTS},
    {"Scan", NONE, 0, 0},
    {"Scatter", NONE, 0, LIKE_FIRST},
    {"ScatterElements", NONE, 0, LIKE_FIRST},
    {"ScatterND", NONE, 0, LIKE_FIRST},
    {"Selu", OUTPUT, 4, ELEMENTS},
    {"Shape", NONE, 0, OF_SHAPE},
    {"Shrink", OUTPUT, 2, ELEMENTS},
    {"Sigmoid", OUTPUT, 4, ELEMENTS},
    {"Sign", OUTPUT, 1, ELEMENTS},
    {"SimplifiedLayerNormalization", OUTPUT, 5, LIKE_FIRST},
    {"Sin", OUTPUT, 1, ELEMENTS},
    {"Sinh", OUTPUT, 1, ELEMENTS},
    {"Size", NONE, 0, OF_SHAPE},
    {"SkipLayerNormalization", OUTPUT, 9, LIKE_FIRST},
    {"SkipSimplifiedLayerNormalization", OUTPUT, 6, LIKE_FIRST},
    {"Slice", NONE, 0, PART},
    {"Softmax", OUTPUT, 5, LIKE_FIRST},
    {"Softplus", OUTPUT, 3, ELEMENTS},
    {"Softsign", OUTPUT, 3, ELEMENTS},
    {"SpaceToDepth", NONE, 0, 0},
    {"Split", NONE, 0, 0},
    {"Sqrt", OUTPUT, 1, ELEMENTS},
    {"Squeeze", NONE, 0, VIEW},
    {"Sub", OUTPUT, 1, ELEMENTS},
    {"Sum", VARIADIC, 0, ELEMENTS},
    {"Swish", OUTPUT, 5, ELEMENTS},
    {"Tan", OUTPUT, 1, ELEMENTS},
    {"Tanh", OUTPUT, 1, ELEMENTS},
    {"ThresholdedRelu", OUTPUT, 1, ELEMENTS},
    {"Tile", NONE, 0, 0},
    {"TopK", INPUT, 1, 0},
    {"Transpose", NONE, 0, 0},
    {"Trilu", NONE, 0, LIKE_FIRST},
    {"Unsqueeze", NONE, 0, VIEW},
    {"Upsample", OUTPUT, 4, 0},
    {"Where", OUTPUT, 1, ELEMENTS},
    {"Xor", OUTPUT, 1, ELEMENTS},
    {"ai.onnx.ml.ArrayFeatureExtractor", NONE, 0, PART},
    {"ai.onnx.ml.Binarizer", OUTPUT, 1, LIKE_FIRST},
    {"ai.onnx.ml.CastMap", NONE, 0, 0},
    {"ai.onnx.ml.CategoryMapper", NONE, 0, LIKE_FIRST},
    {"ai.onnx.ml.DictVectorizer", NONE, 0, 0},
    {"ai.onnx.ml.FeatureVectorizer", NONE, 0, 0},
    {"ai.onnx.ml.Imputer", OUTPUT, 1, LIKE_FIRST},
    {"ai.onnx.ml.LabelEncoder", NONE, 0, LIKE_FIRST},
    {"ai.onnx.ml.LinearClassifier", LINEAR, 0, 0},
    {"ai.onnx.ml.LinearRegressor", LINEAR, 0, 0},
    {"ai.onnx.ml.Normalizer", OUTPUT, 3, LIKE_FIRST},
    {"ai.onnx.ml.OneHotEncoder", NONE, 0, 0},
    {"ai.onnx.ml.Scaler", OUTPUT, 2, LIKE_FIRST},
    {"ai.onnx.ml.ZipMap", NONE, 0, 0},
    {"com.microsoft.Attention", PROJECTED, 4, LIKE_FIRST},
};

size_t regal_onnx_op_type_count(void) {
  return sizeof types / sizeof *types;
}

const regal_onnx_op_type *regal_onnx_op_type_at(size_t index) {
  return &types[index];
}

static int compare(const void *name, const void *row) {
  return strcmp(name, ((const regal_onnx_op_type *)row)->name);
}

static const regal_onnx_op_type *find(const char *name) {
  return bsearch(name, types, regal_onnx_op_type_count(), sizeof *types,
                 compare);
}

const regal_onnx_op_type *regal_onnx_op_type_of(const regal_onnx_node *node) {
  char full[96];
  if (!*node->domain || !strcmp(node->domain, "ai.onnx"))
    return find(node->op_type);
  int length =
      snprintf(full, sizeof full, "%s.%s", node->domain, node->op_type);
  const regal_onnx_op_type *row =
      length >= 0 && (size_t)length < sizeof full ? find(full) : NULL;
  return row || strcmp(node->domain, "com.microsoft") ? row
                                                      : find(node->op_type);
}
