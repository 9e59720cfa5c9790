#include "tensorflow/source/tflite_options.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "tensorflow/read.h"
#include "tensorflow/source/dtypes.h"

namespace assay::tensorflow {
namespace {

enum class Kind : uint8_t { flag, byte, integer, number, integers, type, padding, activation, mirror, graph };

// An option: the number of its field in the table of its operator, and its default, if that is not 0.
struct Option {
  std::string_view op;
  unsigned field;
  Kind kind;
  std::string_view name;
  int64_t otherwise = 0;
};

constexpr std::array kOptions = {
    Option{"CONV_2D", 0, Kind::padding, "padding"},
    Option{"CONV_2D", 1, Kind::integer, "stride_w"},
    Option{"CONV_2D", 2, Kind::integer, "stride_h"},
    Option{"CONV_2D", 3, Kind::activation, "activation"},
    Option{"CONV_2D", 4, Kind::integer, "dilation_w", 1},
    Option{"CONV_2D", 5, Kind::integer, "dilation_h", 1},
    Option{"CONV_3D", 0, Kind::padding, "padding"},
    Option{"CONV_3D", 1, Kind::integer, "stride_d"},
    Option{"CONV_3D", 2, Kind::integer, "stride_w"},
    Option{"CONV_3D", 3, Kind::integer, "stride_h"},
    Option{"CONV_3D", 4, Kind::activation, "activation"},
    Option{"CONV_3D", 5, Kind::integer, "dilation_d", 1},
    Option{"CONV_3D", 6, Kind::integer, "dilation_w", 1},
    Option{"CONV_3D", 7, Kind::integer, "dilation_h", 1},
    Option{"DEPTHWISE_CONV_2D", 0, Kind::padding, "padding"},
    Option{"DEPTHWISE_CONV_2D", 1, Kind::integer, "stride_w"},
    Option{"DEPTHWISE_CONV_2D", 2, Kind::integer, "stride_h"},
    Option{"DEPTHWISE_CONV_2D", 3, Kind::integer, "depth_multiplier"},
    Option{"DEPTHWISE_CONV_2D", 4, Kind::activation, "activation"},
    Option{"DEPTHWISE_CONV_2D", 5, Kind::integer, "dilation_w", 1},
    Option{"DEPTHWISE_CONV_2D", 6, Kind::integer, "dilation_h", 1},
    Option{"TRANSPOSE_CONV", 0, Kind::padding, "padding"},
    Option{"TRANSPOSE_CONV", 1, Kind::integer, "stride_w"},
    Option{"TRANSPOSE_CONV", 2, Kind::integer, "stride_h"},
    Option{"TRANSPOSE_CONV", 3, Kind::activation, "activation"},
    Option{"AVERAGE_POOL_2D", 0, Kind::padding, "padding"},
    Option{"AVERAGE_POOL_2D", 1, Kind::integer, "stride_w"},
    Option{"AVERAGE_POOL_2D", 2, Kind::integer, "stride_h"},
    Option{"AVERAGE_POOL_2D", 3, Kind::integer, "filter_w"},
    Option{"AVERAGE_POOL_2D", 4, Kind::integer, "filter_h"},
    Option{"AVERAGE_POOL_2D", 5, Kind::activation, "activation"},
    Option{"MAX_POOL_2D", 0, Kind::padding, "padding"},
    Option{"MAX_POOL_2D", 1, Kind::integer, "stride_w"},
    Option{"MAX_POOL_2D", 2, Kind::integer, "stride_h"},
    Option{"MAX_POOL_2D", 3, Kind::integer, "filter_w"},
    Option{"MAX_POOL_2D", 4, Kind::integer, "filter_h"},
    Option{"MAX_POOL_2D", 5, Kind::activation, "activation"},
    Option{"FULLY_CONNECTED", 0, Kind::activation, "activation"},
    Option{"FULLY_CONNECTED", 1, Kind::byte, "weights_format"},
    Option{"FULLY_CONNECTED", 2, Kind::flag, "keep_num_dims"},
    Option{"BATCH_MATMUL", 0, Kind::flag, "adj_x"},
    Option{"BATCH_MATMUL", 1, Kind::flag, "adj_y"},
    Option{"SOFTMAX", 0, Kind::number, "beta"},
    Option{"CONCATENATION", 0, Kind::integer, "axis"},
    Option{"CONCATENATION", 1, Kind::activation, "activation"},
    Option{"ADD", 0, Kind::activation, "activation"},
    Option{"SUB", 0, Kind::activation, "activation"},
    Option{"MUL", 0, Kind::activation, "activation"},
    Option{"DIV", 0, Kind::activation, "activation"},
    Option{"L2_NORMALIZATION", 0, Kind::activation, "activation"},
    Option{"LOCAL_RESPONSE_NORMALIZATION", 0, Kind::integer, "depth_radius"},
    Option{"LOCAL_RESPONSE_NORMALIZATION", 1, Kind::number, "bias"},
    Option{"LOCAL_RESPONSE_NORMALIZATION", 2, Kind::number, "alpha"},
    Option{"LOCAL_RESPONSE_NORMALIZATION", 3, Kind::number, "beta"},
    Option{"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, Kind::activation, "activation"},
    Option{"UNIDIRECTIONAL_SEQUENCE_LSTM", 1, Kind::number, "cell_clip"},
    Option{"UNIDIRECTIONAL_SEQUENCE_LSTM", 2, Kind::number, "proj_clip"},
    Option{"UNIDIRECTIONAL_SEQUENCE_LSTM", 3, Kind::flag, "time_major"},
    Option{"RESIZE_BILINEAR", 2, Kind::flag, "align_corners"},
    Option{"RESIZE_BILINEAR", 3, Kind::flag, "half_pixel_centers"},
    Option{"RESIZE_NEAREST_NEIGHBOR", 0, Kind::flag, "align_corners"},
    Option{"RESIZE_NEAREST_NEIGHBOR", 1, Kind::flag, "half_pixel_centers"},
    Option{"RESHAPE", 0, Kind::integers, "new_shape"},
    Option{"SPACE_TO_DEPTH", 0, Kind::integer, "block_size"},
    Option{"DEPTH_TO_SPACE", 0, Kind::integer, "block_size"},
    Option{"GATHER", 0, Kind::integer, "axis"},
    Option{"GATHER", 1, Kind::integer, "batch_dims"},
    Option{"MEAN", 0, Kind::flag, "keep_dims"},
    Option{"SUM", 0, Kind::flag, "keep_dims"},
    Option{"REDUCE_MAX", 0, Kind::flag, "keep_dims"},
    Option{"REDUCE_MIN", 0, Kind::flag, "keep_dims"},
    Option{"REDUCE_PROD", 0, Kind::flag, "keep_dims"},
    Option{"REDUCE_ANY", 0, Kind::flag, "keep_dims"},
    Option{"REDUCE_ALL", 0, Kind::flag, "keep_dims"},
    Option{"SQUEEZE", 0, Kind::integers, "squeeze_dims"},
    Option{"SPLIT", 0, Kind::integer, "num_split"},
    Option{"SPLIT_V", 0, Kind::integer, "num_split"},
    Option{"STRIDED_SLICE", 0, Kind::integer, "begin_mask"},
    Option{"STRIDED_SLICE", 1, Kind::integer, "end_mask"},
    Option{"STRIDED_SLICE", 2, Kind::integer, "ellipsis_mask"},
    Option{"STRIDED_SLICE", 3, Kind::integer, "new_axis_mask"},
    Option{"STRIDED_SLICE", 4, Kind::integer, "shrink_axis_mask"},
    Option{"STRIDED_SLICE", 5, Kind::flag, "offset"},
    Option{"ARG_MAX", 0, Kind::type, "output_type"},
    Option{"ARG_MIN", 0, Kind::type, "output_type"},
    Option{"SHAPE", 0, Kind::type, "out_type"},
    Option{"PACK", 0, Kind::integer, "N"},
    Option{"PACK", 1, Kind::integer, "axis"},
    Option{"UNPACK", 0, Kind::integer, "num"},
    Option{"UNPACK", 1, Kind::integer, "axis"},
    Option{"ONE_HOT", 0, Kind::integer, "axis"},
    Option{"LEAKY_RELU", 0, Kind::number, "alpha"},
    Option{"MIRROR_PAD", 0, Kind::mirror, "mode"},
    Option{"CUMSUM", 0, Kind::flag, "exclusive"},
    Option{"CUMSUM", 1, Kind::flag, "reverse"},
    Option{"GELU", 0, Kind::flag, "approximate"},
    Option{"IF", 0, Kind::graph, "then_branch"},
    Option{"IF", 1, Kind::graph, "else_branch"},
    Option{"WHILE", 0, Kind::graph, "cond"},
    Option{"WHILE", 1, Kind::graph, "body"},
};

constexpr std::array<std::string_view, 2> kPaddings = {"SAME", "VALID"};
constexpr std::array<std::string_view, 6> kActivations = {"", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"};
constexpr std::array<std::string_view, 2> kMirrors = {"REFLECT", "SYMMETRIC"};

template <size_t N>
std::string word_of(const std::array<std::string_view, N>& words, uint8_t number, std::string_view name) {
  if (number >= N) fail(ErrorCode::parse, "the option `{}` has the unknown value {}", name, number);
  return std::string(words[number]);
}

std::vector<int64_t> integers_of(const FlatBuffer& file, uint64_t table, unsigned field) {
  constexpr uint64_t kMost = 1024;
  const FlatVector items = table == 0 ? FlatVector() : file.vector(table, field, 4);
  if (items.count > kMost) fail(ErrorCode::parse, "an option has {} items", items.count);
  std::vector<int64_t> found;
  for (uint64_t i = 0; i < items.count; ++i) found.push_back(file.number<int32_t>(items.begin + i * 4));
  return found;
}

SourceAttribute value_of(const FlatBuffer& file, uint64_t table, const Option& option) {
  const auto read = [&]<typename T>(T otherwise) {
    return table == 0 ? otherwise : file.scalar<T>(table, option.field, otherwise);
  };
  const auto byte = [&] { return read(static_cast<uint8_t>(option.otherwise)); };
  switch (option.kind) {
    case Kind::flag:
      return int64_t{byte() != 0};
    case Kind::byte:
      return int64_t{byte()};
    case Kind::integer:
      return int64_t{read(static_cast<int32_t>(option.otherwise))};
    case Kind::number:
      return double{read(0.0F)};
    case Kind::integers:
      return integers_of(file, table, option.field);
    case Kind::type:
      return static_cast<int64_t>(tflite_dtype(byte()));
    case Kind::padding:
      return word_of(kPaddings, byte(), option.name);
    case Kind::activation:
      return word_of(kActivations, byte(), option.name);
    case Kind::mirror:
      return word_of(kMirrors, byte(), option.name);
    case Kind::graph:
      return fmt::format("{}", read(int32_t{0}));
  }
  return int64_t{0};
}

}  // namespace

void read_options(const FlatBuffer& file, uint64_t table, std::string_view op, SourceNode& node) {
  for (const Option& option : kOptions) {
    if (option.op == op) node.attributes.emplace(option.name, value_of(file, table, option));
  }
}

}  // namespace assay::tensorflow
