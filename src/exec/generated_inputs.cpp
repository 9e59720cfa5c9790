#include "exec/generated_inputs.h"

#include <algorithm>
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

// What the model declares, under what the user gives; the dims still open are 1.
tensor::Shape shape_of(const ir::Model& model, ir::ValueId input, const GenerateOptions& options,
                       Diagnostics& findings) {
  const std::string name = printable(model.text(model[input].name));
  const ir::Type& type = model[model[input].type];
  const InputShape* given = find_shape(options, model.text(model[input].name));
  if (given && type.ranked && given->dims.size() != type.dims.size()) {
    fail(ErrorCode::usage, "input `{}` has rank {}, the given shape is {}", name, type.dims.size(),
         shape_text(given->dims));
  }
  tensor::Shape shape;
  bool is_open = !type.ranked && !given;
  const size_t rank = given ? given->dims.size() : type.dims.size();
  for (size_t i = 0; i < rank; ++i) {
    const std::optional<int64_t> declared = type.ranked ? model.dims().as_constant(type.dims[i]) : std::nullopt;
    const int64_t wish = given ? given->dims[i] : -1;
    if (wish >= 0 && declared && *declared != wish) {
      fail(ErrorCode::usage, "dim {} of input `{}` is {}, the given shape is {}", i, name, *declared,
           shape_text(given->dims));
    }
    is_open = is_open || (wish < 0 && !declared);
    shape.push_back(wish >= 0 ? wish : declared.value_or(1));
    if (shape.back() < 0) fail(ErrorCode::usage, "dim {} of input `{}` is negative: {}", i, name, shape.back());
  }
  if (is_open) {
    findings.warn("input_shape", name,
                  fmt::format("input `{}`: its shape is not fixed; data of shape {} is made (--input-shapes "
                              "sets another)",
                              name, shape_text(shape)));
  }
  return shape;
}

// Bytes that making a tensor takes; the largest number where that overflows.
uint64_t bytes_needed(DType dtype, const tensor::Shape& shape) {
  const std::optional<uint64_t> count = tensor::element_count(shape);
  if (!count || *count > UINT64_MAX / 64) return UINT64_MAX;
  return *count * (dtype == DType::string ? 64 : sizeof(double)) + tensor::packed_bytes(dtype, *count).value_or(0);
}

tensor::Tensor random_integers(DType dtype, const tensor::Shape& shape, NumpyRandom& random) {
  std::vector<int64_t> values(*tensor::element_count(shape));
  const uint32_t bits = dtype == DType::boolean ? 1 : std::max(tensor::bit_width(dtype), 8U);
  random.integers(0, 1, bits, values);
  std::vector<std::byte> bytes(*tensor::packed_bytes(dtype, values.size()));
  tensor::store(dtype, std::span<const int64_t>(values), 0, bytes);
  return {dtype, shape, tensor::make_owned(std::move(bytes))};
}

tensor::Tensor random_floats(DType dtype, const tensor::Shape& shape, NumpyRandom& random) {
  std::vector<double> values(*tensor::element_count(shape));
  for (double& value : values) value = random.uniform();
  if (dtype == DType::string) {
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(python_float(value));
    return {dtype, shape, tensor::make_strings(std::move(texts))};
  }
  std::vector<std::byte> bytes(*tensor::packed_bytes(dtype, values.size()));
  if (tensor::kind(dtype) == tensor::DTypeKind::complex) {
    const std::vector<std::complex<double>> numbers(values.begin(), values.end());
    tensor::store_complex(dtype, numbers, 0, bytes);
  } else {
    tensor::store(dtype, std::span<const double>(values), 0, bytes);
  }
  return {dtype, shape, tensor::make_owned(std::move(bytes))};
}

}  // namespace

std::vector<ir::ValueId> required_inputs(const ir::Model& model) {
  std::vector<ir::ValueId> inputs;
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    if (!model[input].constant.valid()) inputs.push_back(input);
  }
  return inputs;
}

std::vector<Feed> generate_inputs(const ir::Model& model, const GenerateOptions& options, Diagnostics& findings) {
  NumpyRandom random(static_cast<uint32_t>(options.seed));
  uint64_t left = options.max_bytes != 0 ? options.max_bytes : machine_memory_bytes();
  std::vector<Feed> feeds;
  for (const ir::ValueId input : required_inputs(model)) {
    const std::string name(model.text(model[input].name));
    ir::TypeId type = model[input].type;
    if (type.valid() && model[type].kind == ir::TypeKind::optional) type = model[type].element;
    if (!type.valid() || model[type].kind != ir::TypeKind::tensor || !tensor::is_known(model[type].dtype)) {
      fail(ErrorCode::unsupported, "input `{}` is not a tensor of a known type: no data can be made for it",
           printable(name));
    }
    const tensor::Shape shape = shape_of(model, input, options, findings);
    const DType dtype = model[type].dtype;
    const uint64_t needed = bytes_needed(dtype, shape);
    if (needed > left) {
      fail(ErrorCode::limit, "input `{}` of shape {} needs more memory than there is: {} of {}", printable(name),
           shape_text(shape), human_bytes(needed), human_bytes(left));
    }
    left -= needed;
    const bool is_integer = tensor::is_integer(dtype) || dtype == DType::boolean;
    feeds.push_back({name, is_integer ? random_integers(dtype, shape, random) : random_floats(dtype, shape, random)});
  }
  return feeds;
}

}  // namespace assay::exec
