#include "exec/generated_inputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>

#include "base/error.h"
#include "base/memory.h"
#include "base/numpy_random.h"
#include "base/text.h"
#include "tensor/casts.h"

namespace assay::exec {
namespace {

using tensor::DType;

std::string shape_text(const tensor::Shape& shape) {
  std::string text;
  for (const int64_t dim : shape) text += (text.empty() ? "" : ",") + fmt::format("{}", dim);
  return "[" + text + "]";
}

const InputShape* find_shape(const GenerateOptions& options, std::string_view name) {
  const InputShape* wildcard = nullptr;
  for (const InputShape& shape : options.shapes) {
    if (shape.pattern == name) return &shape;
    if (matches_glob(shape.pattern, name)) wildcard = &shape;
  }
  return wildcard;
}

// The shape that the model declares, replaced by what the user gives; -1: still open.
tensor::Shape asked_shape(const Port& input, const PortType& type, const InputShape* given) {
  const std::string name = printable(input.name);
  if (given && type.ranked && given->dims.size() != type.dims.size()) {
    fail(ErrorCode::usage, "input `{}` has rank {}, the given shape is {}", name, type.dims.size(),
         shape_text(given->dims));
  }
  tensor::Shape shape;
  const size_t rank = given ? given->dims.size() : type.dims.size();
  for (size_t i = 0; i < rank; ++i) {
    const std::optional<int64_t> declared = type.ranked ? type.dims[i].size : std::nullopt;
    const int64_t wish = given ? given->dims[i] : -1;
    if (wish >= 0 && declared && *declared != wish) {
      fail(ErrorCode::usage, "dim {} of input `{}` is {}, the given shape is {}", i, name, *declared,
           shape_text(given->dims));
    }
    shape.push_back(wish >= 0 ? wish : declared.value_or(-1));
    if (declared && shape.back() < 0)
      fail(ErrorCode::usage, "dim {} of input `{}` is negative: {}", i, name, shape.back());
  }
  return shape;
}

tensor::Shape shape_of(const Port& input, const PortType& type, const GenerateOptions& options, Diagnostics& findings) {
  const InputShape* given = find_shape(options, input.name);
  tensor::Shape shape = asked_shape(input, type, given);
  const bool is_open = (!type.ranked && !given) || std::ranges::find(shape, -1) != shape.end();
  std::ranges::replace(shape, -1, 1);
  if (is_open) {
    const std::string name = printable(input.name);
    findings.warn(
        kMadeUpShape, name,
        fmt::format("input `{}`: its shape is not fixed; generating data of shape {}", name, shape_text(shape)),
        "input_shapes");
  }
  return shape;
}

// A shape that is given for an input whose elements decide shapes, as many numbers as it has elements: they are its
// elements, as the peer has it. Null: it is a shape.
const tensor::Shape* values_of(const Port& input, const PortType& type, const GenerateOptions& options) {
  const InputShape* const given = find_shape(options, input.name);
  const bool is_vector = type.ranked && type.dims.size() == 1 && type.dims[0].size;
  if (given == nullptr || !input.is_shape || !is_vector || !tensor::is_integer(type.dtype)) return nullptr;
  return static_cast<int64_t>(given->dims.size()) == *type.dims[0].size ? &given->dims : nullptr;
}

// Bytes that making a tensor takes; the largest number where that overflows.
uint64_t bytes_needed(DType dtype, const tensor::Shape& shape) {
  const std::optional<uint64_t> count = tensor::element_count(shape);
  if (!count || *count > UINT64_MAX / 64) return UINT64_MAX;
  return *count * (dtype == DType::string ? 64 : sizeof(double)) + tensor::packed_bytes(dtype, *count).value_or(0);
}

// The source of one input's elements.
struct Draw {
  std::string name;
  DType dtype = DType::undefined;
  tensor::Shape shape;
  InputRange range;
  const InputRole* role = nullptr;
  const tensor::Shape* values = nullptr;  // that are given
};

InputRange range_of(std::string_view name, DType dtype, const GenerateOptions& options) {
  const bool is_integer = tensor::is_integer(dtype);
  InputRange range;
  if (is_integer && options.integer_range) range = *options.integer_range;
  if (tensor::is_floating(dtype) && options.float_range) range = *options.float_range;
  for (const InputRange& given : options.ranges) {
    if (given.pattern.empty() || matches_glob(given.pattern, name)) range = given;
  }
  for (const InputRange& given : options.ranges) {
    if (given.pattern == name) range = given;
  }
  return range;
}

struct IntegerRange {
  int64_t low;
  int64_t high;
};

IntegerRange integer_range(const Draw& draw) {
  if (draw.dtype == DType::boolean) return {draw.range.low != 0 ? 1 : 0, draw.range.high != 0 ? 1 : 0};
  const uint32_t bits = tensor::bit_width(draw.dtype);
  const bool is_signed = tensor::kind(draw.dtype) == tensor::DTypeKind::signed_integer;
  const double least = is_signed ? -std::exp2(bits - 1) : 0;
  const double beyond = std::exp2(is_signed ? bits - 1 : std::min(bits, 63U));
  const double low = std::trunc(draw.range.low);
  const double high = std::trunc(draw.range.high);
  if (low < least || high >= beyond) {
    fail(ErrorCode::usage, "input `{}`: the range [{}, {}] is beyond {}", printable(draw.name), draw.range.low,
         draw.range.high, tensor::name(draw.dtype));
  }
  return {static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

tensor::Tensor integers(const Draw& draw, const std::vector<int64_t>& values) {
  std::vector<std::byte> bytes(*tensor::packed_bytes(draw.dtype, values.size()));
  tensor::store(draw.dtype, std::span<const int64_t>(values), 0, bytes);
  return {draw.dtype, draw.shape, tensor::make_owned(std::move(bytes))};
}

tensor::Tensor random_integers(const Draw& draw, bool is_sensible, NumpyRandom& random, Diagnostics& findings) {
  std::vector<int64_t> values(*tensor::element_count(draw.shape));
  const uint32_t bits = draw.dtype == DType::boolean ? 1 : std::max(tensor::bit_width(draw.dtype), 8U);
  IntegerRange range = integer_range(draw);
  const bool is_index = draw.role != nullptr && draw.role->kind == InputRole::Kind::index;
  const bool is_mask = draw.role != nullptr && draw.role->kind == InputRole::Kind::mask;
  if (is_sensible && is_index) range = {0, draw.role->rows - 1};
  if (is_sensible && is_mask) range = {1, 1};
  random.integers(range.low, range.high, bits, values);
  if (is_index && (range.high >= draw.role->rows || range.low < -draw.role->rows)) {
    for (int64_t& value : values) value %= draw.role->rows;
    findings.warn("input_values", draw.name,
                  fmt::format("input `{}`: indices in [{}, {}] are wrapped into the table of {} rows that they index",
                              printable(draw.name), range.low, range.high, draw.role->rows));
  }
  return integers(draw, values);
}

tensor::Tensor random_floats(const Draw& draw, NumpyRandom& random) {
  std::vector<double> values(*tensor::element_count(draw.shape));
  const double scale = draw.range.high - draw.range.low;
  for (double& value : values) value = random.uniform() * scale + draw.range.low;
  if (draw.dtype == DType::string) {
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(python_float(value));
    return {draw.dtype, draw.shape, tensor::make_strings(std::move(texts))};
  }
  std::vector<std::byte> bytes(*tensor::packed_bytes(draw.dtype, values.size()));
  if (tensor::kind(draw.dtype) == tensor::DTypeKind::complex) {
    const std::vector<std::complex<double>> numbers(values.begin(), values.end());
    tensor::store_complex(draw.dtype, numbers, 0, bytes);
  } else {
    tensor::store(draw.dtype, std::span<const double>(values), 0, bytes);
  }
  return {draw.dtype, draw.shape, tensor::make_owned(std::move(bytes))};
}

// A tensor type, also of an optional input.
const PortType& drawn_type(const Port& input) {
  const PortType* type = input.type ? &*input.type : nullptr;
  if (type != nullptr && type->kind == ir::TypeKind::optional && !type->element.empty()) type = &type->element.front();
  if (type == nullptr || type->kind != ir::TypeKind::tensor || !tensor::is_known(type->dtype)) {
    fail(ErrorCode::unsupported, "input `{}` is not a tensor of a known type: no data can be generated for it",
         printable(input.name));
  }
  return *type;
}

// Error (usage) for a pattern that fits no input.
void check_pattern(std::string_view setting, const std::string& pattern, const std::vector<std::string>& inputs) {
  const auto fits = [&](const std::string& name) { return name == pattern || matches_glob(pattern, name); };
  if (pattern.empty() || std::ranges::any_of(inputs, fits)) return;
  const std::optional<std::string> near = did_you_mean(pattern, inputs);
  const std::string help =
      near ? fmt::format("; did you mean `{}`?", printable(*near)) : "; its inputs: " + join(inputs, ", ");
  throw Error(ErrorCode::usage, fmt::format("the model has no input `{}`{}", printable(pattern), help))
      .about(std::string(setting));
}

void check_patterns(const Signature& signature, const GenerateOptions& options) {
  std::vector<std::string> inputs;
  for (const Port& input : signature.inputs) {
    if (!input.has_default) inputs.push_back(input.name);
  }
  for (const InputShape& shape : options.shapes) check_pattern("input_shapes", shape.pattern, inputs);
  for (const InputRange& range : options.ranges) check_pattern("val_range", range.pattern, inputs);
}

Draw draw_of(const Port& input, const GenerateOptions& options, Diagnostics& findings) {
  const PortType& type = drawn_type(input);
  Draw draw;
  draw.name = input.name;
  draw.dtype = type.dtype;
  draw.values = values_of(input, type, options);
  draw.shape = draw.values != nullptr ? tensor::Shape{*type.dims[0].size} : shape_of(input, type, options, findings);
  draw.range = range_of(draw.name, draw.dtype, options);
  const auto role = std::ranges::find(options.roles, draw.name, &InputRole::name);
  if (role != options.roles.end()) draw.role = &*role;
  return draw;
}

}  // namespace

std::optional<InputShape> parse_input_shape(std::string_view text) {
  const size_t begin = text.rfind(":[");
  if (begin == std::string_view::npos || begin == 0 || text.back() != ']') return std::nullopt;
  InputShape shape{.pattern = std::string(text.substr(0, begin)), .dims = {}};
  const std::string_view list = text.substr(begin + 2, text.size() - begin - 3);
  if (list.empty()) return shape;
  for (const std::string_view word : split(list, ',')) {
    int64_t dim = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), dim);
    if (error != std::errc() || end != word.data() + word.size() || dim < -1) return std::nullopt;
    shape.dims.push_back(dim);
  }
  return shape;
}

std::optional<tensor::Shape> asked_shape(const Port& input, const GenerateOptions& options) {
  const PortType& type = drawn_type(input);
  const InputShape* const given = find_shape(options, input.name);
  if (const tensor::Shape* const values = values_of(input, type, options)) {
    return tensor::Shape{static_cast<int64_t>(values->size())};
  }
  return given || type.ranked ? std::optional(asked_shape(input, type, given)) : std::nullopt;
}

std::vector<Feed> generate_inputs(const Signature& signature, const GenerateOptions& options, Diagnostics& findings) {
  check_patterns(signature, options);
  NumpyRandom random(static_cast<uint32_t>(options.seed));
  uint64_t left = options.max_bytes != 0 ? options.max_bytes : available_memory_bytes();
  std::vector<Feed> feeds;
  for (const Port& input : signature.inputs) {
    if (input.has_default) continue;
    const Draw draw = draw_of(input, options, findings);
    const uint64_t needed = bytes_needed(draw.dtype, draw.shape);
    if (needed > left) {
      fail(ErrorCode::limit, "input `{}` of shape {} needs more memory than is available: {} of {}",
           printable(draw.name), shape_text(draw.shape), human_bytes(needed), human_bytes(left));
    }
    left -= needed;
    if (draw.values != nullptr) {
      feeds.push_back({draw.name, integers(draw, {draw.values->begin(), draw.values->end()})});
      continue;
    }
    const bool is_integer = tensor::is_integer(draw.dtype) || draw.dtype == DType::boolean;
    feeds.push_back({draw.name, is_integer ? random_integers(draw, options.is_sensible, random, findings)
                                           : random_floats(draw, random)});
  }
  return feeds;
}

}  // namespace assay::exec
