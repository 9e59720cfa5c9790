#include "tensorflow/import/builder.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "ir/constants.h"
#include "ops/write_types.h"
#include "tensor/casts.h"
#include "tensor/convert.h"

namespace assay::tensorflow {
namespace {

using tensor::DType;

bool is_order(const Ints& order, size_t rank) {
  Ints sorted = order;
  std::ranges::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i)) return false;
  }
  return order.size() == rank;
}

// The name, or with a number, if it is taken; it is taken then.
std::string unique_name(const std::string& name, std::set<std::string, std::less<>>& taken) {
  std::string unique = name;
  for (uint64_t i = 1; !taken.insert(unique).second; ++i) unique = fmt::format("{}_{}", name, i);
  return unique;
}

}  // namespace

Ints channels_first_order(size_t rank) {
  Ints order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (rank > 2) std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return order;
}

Ints channels_last_order(size_t rank) {
  Ints order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

tensor::Tensor integer_tensor(const Ints& items) {
  return tensor::make_tensor<int64_t>(DType::int64, {static_cast<int64_t>(items.size())}, items);
}

ir::Symbol Builder::take_name(const std::string& name) { return edit_.intern(unique_name(name, taken_)); }

ir::Symbol Builder::next_name(std::string_view base) {
  return take_name(fmt::format("{}/{}_{}", subject_, base, ++made_));
}

Builder::Place Builder::begin_body(ir::GraphId body) {
  Place outer{graph_, known_};
  graph_ = body;
  return outer;
}

void Builder::restore(Draft draft) {
  known_ = std::move(draft.known);
  taken_ = std::move(draft.names);
  taken_by_nodes_ = std::move(draft.node_names);
}

void Builder::end_body(Place outer) {
  graph_ = outer.graph;
  known_ = std::move(outer.known);
}

void Builder::write_types(std::span<const ir::ValueId> values) {
  const ops::Inference& inference = inference_.now();
  for (const ir::ValueId value : values) ops::write_type(inference, model_, value);
}

Values Builder::add_many(const NodeRequest& request, size_t results, std::span<const ir::Attribute> more) {
  std::vector<ir::Symbol> names;
  for (size_t i = 0; i < results; ++i) names.push_back(next_name(request.op));
  std::vector<ir::Attribute> attributes(more.begin(), more.end());
  for (const auto& [name, value] : request.attributes) {
    attributes.push_back(ir::make_attribute(model_, name, value));
  }
  const ir::NodeId node = edit_.add_node(graph_, {.op = edit_.intern(request.op),
                                                  .domain = edit_.intern(request.domain),
                                                  .name = model_.text(names.front()),
                                                  .operands = request.operands,
                                                  .results = names,
                                                  .attributes = attributes});
  last_node_ = node;
  return {model_[node].results.begin(), model_[node].results.end()};
}

ir::ValueId Builder::constant(tensor::Tensor tensor) {
  return ir::add_initializer(edit_, {model_.main_graph(), next_name("constant"), std::move(tensor)});
}

ir::ValueId Builder::integers(const Ints& items) { return constant(integer_tensor(items)); }

ir::ValueId Builder::integer(int64_t item) {
  return constant(tensor::make_tensor<int64_t>(DType::int64, {}, std::span(&item, 1)));
}

ir::ValueId Builder::scalar(DType dtype, double number) {
  const std::vector<double> items = {number};
  return constant(tensor::converted(tensor::make_tensor<double>(DType::float64, {}, items), dtype));
}

ir::ValueId Builder::transpose(ir::ValueId value, const Ints& order) {
  if (std::ranges::is_sorted(order)) return value;
  const auto known = known_.transposed.find({value, order});
  if (known != known_.transposed.end()) return known->second;
  const tensor::Tensor* const tensor = constant_of(value);
  const bool is_at_once = tensor != nullptr && tensor::bit_width(tensor->dtype()) % 8 == 0 &&
                          tensor::bit_width(tensor->dtype()) != 0 && is_order(order, tensor->shape().size());
  const ir::ValueId made =
      is_at_once ? constant(transposed(*tensor, order)) : add({"Transpose", {value}, {{"perm", order}}});
  known_.transposed.emplace(std::pair(value, order), made);
  return made;
}

ir::ValueId Builder::reshape(ir::ValueId value, const Ints& dims) {
  if (dims.empty() && rank(value) == size_t{0}) return value;
  const tensor::Tensor* const tensor = constant_of(value);
  const auto count = tensor::element_count(dims);
  if (tensor != nullptr && count && *count == tensor->count()) {
    return constant(tensor::Tensor(tensor->dtype(), dims, tensor->storage()));
  }
  return add({"Reshape", {value, integers(dims)}});
}

ir::ValueId Builder::cast(ir::ValueId value, DType dtype) {
  if (this->dtype(value) == dtype) return value;
  const auto known = known_.cast.find({value, dtype});
  if (known != known_.cast.end()) return known->second;
  const tensor::Tensor* const tensor = constant_of(value);
  const bool is_small = tensor != nullptr && tensor->count() <= 4096 && tensor->dtype() != DType::string;
  const ir::ValueId made = is_small ? constant(tensor::converted(*tensor, dtype))
                                    : pointwise({"Cast", {value}, {{"to", static_cast<int64_t>(dtype)}}});
  known_.cast.emplace(std::pair(value, dtype), made);
  const bool is_kept = dtype == DType::int64 && tensor::is_integer(this->dtype(value));
  if (is_kept && !is_small) known_.cast.emplace(std::pair(made, this->dtype(value)), value);
  return made;
}

ir::ValueId Builder::channels_first(ir::ValueId value) {
  if (const ir::ValueId twin = twin_of(value)) return twin;
  const ir::ValueId made = transpose(value, channels_first_order(rank(value).value_or(4)));
  known_.first_of[value] = made;
  return made;
}

ir::ValueId Builder::channels_last(ir::ValueId value) {
  const ir::ValueId made = transpose(value, channels_last_order(rank(value).value_or(4)));
  known_.first_of[made] = value;
  return made;
}

ir::ValueId Builder::twin_of(ir::ValueId value) const {
  const auto found = known_.first_of.find(value);
  return found == known_.first_of.end() ? ir::ValueId() : found->second;
}

// A constant of which channels last is the same as channels first, or becomes so; invalid for others.
ir::ValueId Builder::pointwise_operand(ir::ValueId value, size_t rank) {
  if (const ir::ValueId twin = twin_of(value)) return this->rank(twin) == rank ? twin : ir::ValueId();
  const tensor::Tensor* const tensor = constant_of(value);
  if (tensor == nullptr) return {};
  if (tensor->count() == 1 && tensor->shape().empty()) return value;
  if (tensor->shape().size() == 1) {
    Ints dims(rank - 1, 1);
    dims.front() = tensor->shape().front();
    return reshape(value, dims);
  }
  return tensor->shape().size() == rank ? transpose(value, channels_first_order(rank)) : ir::ValueId();
}

ir::ValueId Builder::pointwise(const NodeRequest& request) {
  const auto twinned =
      std::ranges::find_if(request.operands, [&](ir::ValueId value) { return value && twin_of(value); });
  if (twinned == request.operands.end()) return add(request);
  const size_t rank = this->rank(*twinned).value_or(0);
  NodeRequest first = request;
  for (ir::ValueId& operand : first.operands) {
    if (!operand) continue;
    operand = pointwise_operand(operand, rank);
    if (!operand) return add(request);
  }
  return channels_last(add(first));
}

ops::Type Builder::type(ir::ValueId value) {
  if (const tensor::Tensor* const tensor = constant_of(value)) {
    return ops::Type::tensor(tensor->dtype(), ops::dims_of(tensor->shape()));
  }
  const ops::Type found = inference().type(value);
  const auto declared = declared_.find(value);
  if (declared == declared_.end() || (found.known && found.dims)) return found;
  const ir::Type& type = model_.types()[declared->second];
  if (!type.ranked) return ops::Type::tensor(type.dtype);
  ops::Dims dims;
  for (const ir::DimId dim : type.dims) {
    const std::optional<int64_t> size = model_.dims().as_constant(dim);
    dims.push_back(size ? ops::Dim(*size) : ops::Dim());
  }
  return ops::Type::tensor(type.dtype, std::move(dims));
}

std::optional<size_t> Builder::rank(ir::ValueId value) {
  const ops::Type type = this->type(value);
  return type.dims ? std::optional(type.dims->size()) : std::nullopt;
}

std::optional<Sizes> Builder::sizes(ir::ValueId value) {
  const ops::Type type = this->type(value);
  if (!type.dims) return std::nullopt;
  Sizes sizes;
  for (const ops::Dim& dim : *type.dims) sizes.push_back(dim.number());
  return sizes;
}

const tensor::Tensor* Builder::constant_of(ir::ValueId value) {
  const ir::Value& facts = model_[value];
  if (facts.kind == ir::ValueKind::initializer) return &model_[facts.constant].tensor;
  return inference().constant(value);
}

std::optional<Sizes> Builder::partly_known_integers(ir::ValueId value) {
  if (const tensor::Tensor* const tensor = constant_of(value)) {
    if (!tensor::is_integer(tensor->dtype())) return std::nullopt;
    Ints items(tensor->count());
    tensor::load(tensor->dtype(), tensor->bytes(), 0, std::span<int64_t>(items));
    return Sizes(items.begin(), items.end());
  }
  const ops::Elements* const elements = inference().elements(value);
  if (elements == nullptr) return std::nullopt;
  Sizes items;
  for (const ops::Dim& item : elements->items) items.push_back(item.number());
  return items;
}

std::optional<Ints> Builder::known_integers(ir::ValueId value) {
  const std::optional<Sizes> items = partly_known_integers(value);
  if (!items) return std::nullopt;
  Ints known;
  for (const std::optional<int64_t>& item : *items) {
    if (!item) return std::nullopt;
    known.push_back(*item);
  }
  return known;
}

ops::Dim Builder::number(ir::ValueId value) {
  if (const std::optional<Ints> known = known_integers(value)) return known->size() == 1 ? known->front() : ops::Dim();
  const ops::Elements* const elements = inference().elements(value);
  return elements != nullptr && elements->items.size() == 1 ? elements->items.front() : ops::Dim();
}

bool Builder::is_size(ir::ValueId value) { return number(value).is_non_negative(); }

bool Builder::are_equal(ir::ValueId a, ir::ValueId b) { return a == b || number(a).equals(number(b)); }

std::string Builder::type_text(ir::ValueId value) {
  const ops::Type type = this->type(value);
  std::string text(tensor::name(type.dtype));
  if (!type.dims) return text;
  for (const ops::Dim& dim : *type.dims) text += "," + (inference().is_data_size(dim) ? "?" : dim.text());
  return text;
}

void Builder::declare(ir::ValueId value, DType dtype, const std::optional<Ints>& dims) {
  std::vector<ir::DimId> ids;
  for (const int64_t dim : dims.value_or(Ints()))
    ids.push_back(dim < 0 ? ir::kUnknownDim : model_.dims().constant(dim));
  declared_[value] = dims ? model_.types().tensor(dtype, std::move(ids)) : model_.types().unranked_tensor(dtype);
}

void Builder::name(ir::ValueId value, const std::string& name, const std::string& node_name) {
  const ir::NodeId producer = model_[value].producer;
  edit_.rename(value, take_name(name));
  if (producer) edit_.rename(producer, edit_.keep(unique_name(node_name, taken_by_nodes_)));
}

void Builder::sweep(ir::GraphId graph) {
  std::vector<ir::NodeId> all;
  for (const ir::NodeId node : ir::nodes(model_, graph)) all.push_back(node);
  for (size_t i = all.size(); i-- > 0;) {
    const auto is_used = [&](ir::ValueId value) {
      return value && (model_[value].first_use != nullptr || kept_.contains(value));
    };
    if (std::ranges::none_of(model_[all[i]].results, is_used)) edit_.erase(all[i]);
  }
  std::vector<ir::ValueId> unused;
  for (const ir::ValueId value : model_[graph].initializers) {
    if (model_[value].kind == ir::ValueKind::initializer && model_[value].first_use == nullptr) unused.push_back(value);
  }
  edit_.erase(unused);
}

}  // namespace assay::tensorflow
