#include "passes/opset/draft.h"

#include <algorithm>

#include "tensor/elements.h"

namespace assay::passes {

Draft::Draft(Drafting& shared, ir::NodeId node, const schema::Schema& source, int64_t target)
    : shared_(shared), node_(node), source_(&source), target_(target) {
  const ir::Node& written = model()[node];
  op_ = model().text(written.op);
  for (const ir::Use& use : written.operands) operands_.push_back({use.value, std::nullopt});
  attributes_.assign(written.attributes.begin(), written.attributes.end());
}

void Draft::set_op(std::string_view op) {
  op_ = op;
  is_changed_ = true;
}

bool Draft::refers_to_attributes() const { return std::ranges::any_of(attributes_, &ir::Attribute::is_reference); }

const ir::Attribute* Draft::find(std::string_view name) const {
  const auto is_it = [&](const ir::Attribute& attribute) { return model().text(attribute.name()) == name; };
  const auto found = std::ranges::find_if(attributes_, is_it);
  return found == attributes_.end() ? nullptr : &*found;
}

int64_t Draft::integer(std::string_view name, int64_t otherwise) const {
  const ir::Attribute* found = find(name);
  return found ? found->integer() : otherwise;
}

float Draft::floating(std::string_view name, float otherwise) const {
  const ir::Attribute* found = find(name);
  return found ? found->floating() : otherwise;
}

std::string_view Draft::string(std::string_view name, std::string_view otherwise) const {
  const ir::Attribute* found = find(name);
  return found ? model().text(found->string()) : otherwise;
}

std::vector<int64_t> Draft::integers(std::string_view name) const {
  const ir::Attribute* found = find(name);
  if (!found) return {};
  return {found->integers().begin(), found->integers().end()};
}

std::vector<float> Draft::floats(std::string_view name) const {
  const ir::Attribute* found = find(name);
  if (!found) return {};
  return {found->floats().begin(), found->floats().end()};
}

ir::Attribute Draft::attribute(std::string_view name, int64_t value) const {
  return ir::Attribute::of(edit().intern(name), value);
}

ir::Attribute Draft::attribute(std::string_view name, const std::vector<int64_t>& values) const {
  const std::span<const int64_t> items = shared_.run().model().arena().copy(std::span<const int64_t>(values));
  return ir::Attribute::list(edit().intern(name), ir::AttributeType::integers, items);
}

void Draft::set(std::string_view name, int64_t value) { set(attribute(name, value)); }
void Draft::set(std::string_view name, float value) { set(ir::Attribute::of(edit().intern(name), value)); }
void Draft::set(std::string_view name, const std::vector<int64_t>& values) { set(attribute(name, values)); }

void Draft::set(std::string_view name, std::string_view value) {
  set(ir::Attribute::of(edit().intern(name), ir::AttributeType::string, edit().intern(value)));
}

void Draft::set_tensor(std::string_view name, tensor::Tensor value) {
  ir::TensorEntry entry;
  entry.tensor = std::move(value);
  entry.dirty = true;
  const ir::TensorId id = edit().add_tensor(std::move(entry));
  set(ir::Attribute::of(edit().intern(name), ir::AttributeType::tensor, id));
}

void Draft::set(ir::Attribute attribute) {
  std::erase_if(attributes_, [&](const ir::Attribute& old) { return old.name() == attribute.name(); });
  attributes_.push_back(attribute);
  is_changed_ = true;
}

void Draft::drop(std::string_view name) {
  const auto is_it = [&](const ir::Attribute& attribute) { return model().text(attribute.name()) == name; };
  if (std::erase_if(attributes_, is_it) > 0) is_changed_ = true;
}

void Draft::set_operand(size_t index, DraftValue value) {
  if (index >= operands_.size()) operands_.resize(index + 1);
  operands_[index] = value;
  is_changed_ = true;
}

void Draft::drop_operand(size_t index) {
  if (!has(index)) return;
  set_operand(index, {});
  while (!operands_.empty() && !operands_.back().is_given()) operands_.pop_back();
}

bool Draft::has_result(size_t index) const { return index < result_count() && model()[node_].results[index].valid(); }

bool Draft::wants(size_t result) const {
  return has_result(result) && model()[model()[node_].results[result]].first_use;
}

size_t Draft::result_count() const { return model()[node_].results.size(); }

ops::Type Draft::type_of(ir::ValueId value) const {
  const tensor::DType dtype = shared_.inferred().dtype(value);
  const ops::Dims* dims = shared_.inferred().dims(value);
  if (dtype == tensor::DType::undefined) return {};
  return ops::Type::tensor(dtype, dims ? std::optional(*dims) : std::nullopt);
}

ops::Type Draft::type(size_t index) const {
  const DraftValue value = operand(index);
  if (value.existing.valid()) return type_of(value.existing);
  if (!value.made) return {};
  const DraftNode& made = made_[*value.made];
  if (!made.constant && made.dtype == tensor::DType::undefined) return {};
  if (!made.constant) return ops::Type::tensor(made.dtype);
  const tensor::Tensor& tensor = *made.constant;
  return ops::Type::tensor(tensor.dtype(), ops::dims_of(tensor.shape()));
}

std::optional<int64_t> Draft::rank(size_t index) const {
  const ops::Type found = type(index);
  if (!found.is_tensor() || !found.dims) return std::nullopt;
  return static_cast<int64_t>(found.dims->size());
}

ops::Type Draft::result_type(size_t index) const {
  return has_result(index) ? type_of(model()[node_].results[index]) : ops::Type();
}

const tensor::Tensor* Draft::constant(size_t index) const {
  const DraftValue value = operand(index);
  if (!value.made) return shared_.run().constant(value.existing);
  return made_[*value.made].constant ? &*made_[*value.made].constant : nullptr;
}

std::optional<std::vector<int64_t>> Draft::known_integers(size_t index) const {
  const tensor::Tensor* found = constant(index);
  if (!found || !tensor::is_integer(found->dtype())) return std::nullopt;
  return tensor::load_elements<int64_t>(*found);
}

DraftValue Draft::add(DraftNode node) {
  made_.push_back(std::move(node));
  return {{}, made_.size() - 1};
}

DraftValue Draft::add_constant(tensor::Tensor tensor) { return add({.op = {}, .operands = {}, .constant = tensor}); }

DraftValue Draft::add_integers(const std::vector<int64_t>& values) {
  return add_constant(
      ops::make_rounded(tensor::DType::int64, {static_cast<int64_t>(values.size())}, std::vector<int64_t>(values)));
}

DraftValue Draft::add_scalar(tensor::DType dtype, double value) {
  return add_constant(ops::make_rounded(dtype, {}, std::vector<double>{value}));
}

void Draft::follow(size_t result, DraftNode node) {
  if (has_result(result)) followers_.push_back({result, std::move(node)});
  is_changed_ = true;
}

}  // namespace assay::passes
