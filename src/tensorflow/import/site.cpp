#include "tensorflow/import/site.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "tensor/convert.h"
#include "tensorflow/import/importer.h"

namespace assay::tensorflow {
namespace {

using tensor::DType;

tensor::Tensor scales_of(const Quantization& quantization) {
  const bool is_one = quantization.scales.size() == 1;
  const tensor::Shape shape =
      is_one ? tensor::Shape() : tensor::Shape{static_cast<int64_t>(quantization.scales.size())};
  return tensor::make_tensor<float>(DType::float32, shape, quantization.scales);
}

tensor::Tensor zero_points_of(const Quantization& quantization, DType dtype) {
  Ints points = quantization.zero_points;
  points.resize(quantization.scales.size(), points.size() == 1 ? points.front() : 0);
  const bool is_one = points.size() == 1;
  const tensor::Shape shape = is_one ? tensor::Shape() : tensor::Shape{static_cast<int64_t>(points.size())};
  return tensor::converted(tensor::make_tensor<int64_t>(DType::int64, shape, points), dtype);
}

// Operands behind the first of QuantizeLinear and DequantizeLinear. Codes of 32 bits have no zero points.
Values coding(Builder& builder, ir::ValueId first, const Quantization& quantization, DType dtype) {
  Values operands = {first, builder.constant(scales_of(quantization))};
  if (dtype != DType::int32) operands.push_back(builder.constant(zero_points_of(quantization, dtype)));
  return operands;
}

NamedAttributes axis_of(const Quantization& quantization) {
  if (quantization.scales.size() == 1) return {};
  return {{"axis", quantization.axis}};
}

// Codes of 64 bits, which biases beside activations of 16 bits have: DequantizeLinear does not take them.
ir::ValueId scaled(Builder& builder, ir::ValueId codes, const Quantization& quantization) {
  ir::ValueId scales = builder.constant(scales_of(quantization));
  const auto rank = static_cast<int64_t>(builder.rank(codes).value_or(1));
  if (quantization.scales.size() > 1 && quantization.axis + 1 < rank) {
    Ints dims(static_cast<size_t>(rank - quantization.axis), 1);
    dims.front() = static_cast<int64_t>(quantization.scales.size());
    scales = builder.reshape(scales, dims);
  }
  return builder.pointwise({"Mul", {builder.cast(codes, DType::float32), scales}});
}

}  // namespace

ir::ValueId dequantized(Builder& builder, ir::ValueId codes, const Quantization& quantization) {
  if (builder.dtype(codes) == DType::int64) return scaled(builder, codes, quantization);
  const NodeRequest request = {"DequantizeLinear", coding(builder, codes, quantization, builder.dtype(codes)),
                               axis_of(quantization)};
  return quantization.scales.size() == 1 ? builder.pointwise(request) : builder.add(request);
}

Site::Site(Importer& importer, Builder& builder, const SourceGraph& graph, const SourceNode& node,
           std::vector<Item> inputs, std::string_view target)
    : importer_(importer),
      builder_(builder),
      graph_(graph),
      node_(node),
      inputs_(std::move(inputs)),
      target_(target),
      first_(builder.model().value_slots()) {}

bool Site::is_lite() const { return importer_.source().is_lite; }

void Site::refuse(std::string_view reason) const { fail(ErrorCode::unsupported, "{}", reason); }

bool Site::has(size_t index) const {
  if (index >= inputs_.size()) return false;
  const Item& given = inputs_[index];
  return given.value.valid() || !given.variable.empty() || given.list.has_value();
}

const Item& Site::item(size_t index) const {
  if (!has(index)) fail(ErrorCode::parse, "operand {} is not there", index);
  return inputs_[index];
}

ir::ValueId Site::input(size_t index) const {
  const Item& given = item(index);
  if (given.list) refuse("it takes a list as a tensor");
  return given.value;
}

Values Site::inputs() const {
  Values values;
  for (size_t i = 0; i < inputs_.size(); ++i) values.push_back(input(i));
  return values;
}

Ints Site::integers(size_t index, std::string_view name) {
  const Item& given = item(index);
  const std::optional<Ints> known = builder_.known_integers(given.codes ? given.codes : given.value);
  if (!known) fail(ErrorCode::unsupported, "the {} must be constant", name);
  return *known;
}

int64_t Site::integer(size_t index, std::string_view name) {
  const Ints items = integers(index, name);
  if (items.size() != 1) fail(ErrorCode::parse, "the {} has {} elements, expected one", name, items.size());
  return items.front();
}

size_t Site::rank(ir::ValueId value) {
  const std::optional<size_t> rank = builder_.rank(value);
  if (!rank) refuse("the number of dimensions of an operand is not known");
  return *rank;
}

int64_t Site::axis(int64_t axis, size_t rank) const {
  const auto size = static_cast<int64_t>(rank);
  if (axis < -size || axis >= size) fail(ErrorCode::parse, "there is no axis {} among {} dimensions", axis, rank);
  return axis < 0 ? axis + size : axis;
}

int64_t Site::attribute(std::string_view name, int64_t otherwise) const {
  const auto found = node_.attributes.find(name);
  const auto* const value = found == node_.attributes.end() ? nullptr : std::get_if<int64_t>(&found->second);
  return value == nullptr ? otherwise : *value;
}

double Site::number(std::string_view name, double otherwise) const {
  const auto found = node_.attributes.find(name);
  const auto* const value = found == node_.attributes.end() ? nullptr : std::get_if<double>(&found->second);
  return value == nullptr ? otherwise : *value;
}

std::string Site::text(std::string_view name, std::string_view otherwise) const {
  const auto found = node_.attributes.find(name);
  const auto* const value = found == node_.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return std::string(value == nullptr ? otherwise : std::string_view(*value));
}

Ints Site::list(std::string_view name) const {
  const auto found = node_.attributes.find(name);
  const auto* const value = found == node_.attributes.end() ? nullptr : std::get_if<Ints>(&found->second);
  return value == nullptr ? Ints() : *value;
}

DType Site::type_attribute(std::string_view name, DType otherwise) const {
  return static_cast<DType>(attribute(name, static_cast<int64_t>(otherwise)));
}

ir::ValueId Site::weights(size_t index, const Ints& order) {
  const Item& given = item(index);
  if (!given.codes || builder_.constant_of(given.codes) == nullptr) return builder_.transpose(given.value, order);
  Quantization quantization = given.declared->quantization;
  const auto place = std::ranges::find(order, quantization.axis);
  quantization.axis = place - order.begin();
  return dequantized(builder_, builder_.transpose(given.codes, order), quantization);
}

ir::ValueId Site::activated(ir::ValueId value) {
  const std::string kind = text("activation", "");
  if (kind.empty()) return value;
  if (kind == "RELU") return pointwise("Relu", {value});
  if (kind == "TANH") return pointwise("Tanh", {value});
  const auto clipped = [&](double least) {
    return pointwise("Clip", {value, scalar_like(value, least), scalar_like(value, kind == "RELU6" ? 6 : 1)});
  };
  if (kind == "RELU6") return clipped(0);
  if (kind == "RELU_N1_TO_1") return clipped(-1);
  refuse(fmt::format("its activation {} is not imported", kind));
}

ir::ValueId Site::quantized(ir::ValueId value, const SourceValue& declared) {
  return builder_.pointwise({"QuantizeLinear", coding(builder_, value, declared.quantization, declared.dtype),
                             axis_of(declared.quantization)});
}

const SourceValue* Site::declared_output(size_t index) const {
  const auto declared = graph_.values.find(node_.output(index));
  return declared == graph_.values.end() ? nullptr : &declared->second;
}

void Site::give(size_t index, ir::ValueId value) { give(index, Item{.value = value, .codes = {}, .variable = {}}); }

void Site::give(size_t index, Item item) {
  const std::string name = node_.output(index);
  if (name.empty()) return;
  item.declared = declared_output(index);
  const bool has_codes = item.declared != nullptr && item.declared->quantization.is_given() &&
                         tensor::is_integer(item.declared->dtype) && item.value.valid() && !item.codes.valid();
  if (has_codes && tensor::is_floating(builder_.dtype(item.value))) {
    item.codes = quantized(item.value, *item.declared);
    item.value = dequantized(builder_, item.codes, item.declared->quantization);
  }
  const ir::ValueId shown = item.codes ? item.codes : item.value;
  if (shown && shown.index >= first_) {
    builder_.name(shown, importer_.scoped(name), importer_.scoped(node_.name));
    if (importer_.keeps_values()) builder_.keep(shown);
    if (item.declared != nullptr) builder_.declare(shown, item.declared->dtype, item.declared->dims);
  }
  given_.emplace_back(name, std::move(item));
}

}  // namespace assay::tensorflow
