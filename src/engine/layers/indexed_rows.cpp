#include "engine/layers/indexed_rows.h"

#include <array>
#include <numeric>

#include "ops/kernels/movement/places.h"

namespace assay::engine {
namespace {

// False: indices of another type, or a tensor whose elements do not lie in the order of its dims.
bool has_known_operands(const Layer& layer) {
  const tensor::DType indices = layer.inputs[1].dtype;
  return (indices == tensor::DType::int64 || indices == tensor::DType::int32) &&
         has_layout(layer.inputs[0], Layout::plain);
}

std::optional<IndexedRows> begin_rows(const Layer& layer) {
  const TensorDesc& indices = layer.inputs[1];
  if (indices.dims.empty() || !has_known_operands(layer)) return std::nullopt;
  IndexedRows rows;
  rows.shape.assign(indices.dims.begin(), indices.dims.end() - 1);
  rows.index_strides.assign(indices.strides.begin(), indices.strides.end() - 1);
  rows.data_strides.resize(rows.shape.size());
  return rows;
}

size_t axis_of(const Layer& layer) {
  return static_cast<size_t>(ops::normalize_axis(layer.facts(layer.nodes[0]).integer("axis", 0),
                                                 static_cast<int64_t>(layer.inputs[0].dims.size())));
}

std::vector<int64_t> plain_strides(const TensorDesc& desc) { return make_desc(desc.dtype, desc.dims).strides; }

// Rows, or elements, at the places along an axis of the first operand that the second one names.
std::optional<IndexedRows> rows_of_places(const Layer& layer) {
  const TensorDesc& data = layer.inputs[0];
  if (!has_known_operands(layer) || !has_layout(layer.inputs[1], Layout::plain)) return std::nullopt;
  const size_t axis = axis_of(layer);
  const auto begin = data.dims.begin() + static_cast<ptrdiff_t>(axis);
  const int64_t outer = std::accumulate(data.dims.begin(), begin, int64_t{1}, std::multiplies<>());
  const int64_t inner = std::accumulate(begin + 1, data.dims.end(), int64_t{1}, std::multiplies<>());
  const int64_t count = layer.inputs[1].count();
  if (inner == 1)
    return IndexedRows{.shape = {outer},
                       .data_strides = {*begin},
                       .index_strides = {0},
                       .length = count,
                       .numbers = {{*begin, 1}},
                       .is_by_element = true,
                       .index_step = 1,
                       .data_step = 0};
  return IndexedRows{.shape = {outer, count},
                     .data_strides = {*begin * inner, 0},
                     .index_strides = {0, 1},
                     .length = inner,
                     .numbers = {{*begin, inner}}};
}

// Rows that the tuples of the second operand name in the first, behind the attribute's batch dims.
std::optional<IndexedRows> rows_of_tuples(const Layer& layer) {
  std::optional<IndexedRows> rows = begin_rows(layer);
  if (!rows) return std::nullopt;
  const TensorDesc& data = layer.inputs[0];
  const std::vector<int64_t> strides = plain_strides(data);
  const auto batch_dims = static_cast<size_t>(layer.facts(layer.nodes[0]).integer("batch_dims", 0));
  for (size_t i = 0; i < batch_dims; ++i) rows->data_strides[i] = strides[i];
  const size_t named = batch_dims + static_cast<size_t>(layer.inputs[1].dims.back());
  for (size_t i = batch_dims; i < named; ++i) rows->numbers.push_back({data.dims[i], strides[i]});
  for (size_t i = named; i < data.dims.size(); ++i) rows->length *= data.dims[i];
  rows->number_step = layer.inputs[1].strides.back();
  return rows;
}

// Rows of the second operand, each of whose elements names a place of the first along an axis.
std::optional<IndexedRows> rows_of_elements(const Layer& layer) {
  std::optional<IndexedRows> rows = begin_rows(layer);
  if (!rows) return std::nullopt;
  const TensorDesc& data = layer.inputs[0];
  const std::vector<int64_t> strides = plain_strides(data);
  const size_t last = data.dims.size() - 1;
  const size_t axis = axis_of(layer);
  for (size_t i = 0; i < last; ++i) rows->data_strides[i] = i == axis ? 0 : strides[i];
  rows->numbers = {{data.dims[axis], strides[axis]}};
  rows->length = layer.inputs[1].dims.back();
  rows->index_step = layer.inputs[1].strides.back();
  rows->data_step = axis == last ? 0 : 1;
  rows->is_by_element = axis == last || (rows->index_step != 0 && rows->length > 1);
  return rows;
}

struct Known {
  std::string_view name;
  std::optional<IndexedRows> (*find)(const Layer& layer);
};
constexpr std::array<Known, 5> kOperators = {{{"Gather", rows_of_places},
                                              {"GatherElements", rows_of_elements},
                                              {"GatherND", rows_of_tuples},
                                              {"ScatterND", rows_of_tuples},
                                              {"ScatterElements", rows_of_elements}}};

}  // namespace

int64_t IndexedRows::count() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::optional<IndexedRows> find_indexed_rows(const Layer& layer, IndexedOperator op) {
  const Known& known = kOperators[static_cast<size_t>(op)];
  return layer.is_single() && layer.starts_with(known.name) ? known.find(layer) : std::nullopt;
}

ir::ValueId find_slab_places(const ir::Model& model, const ops::Inference& inference, ir::NodeId id) {
  const ir::Node& node = model[id];
  const std::string_view op = model.text(node.op);
  const bool is_known = op == kOperators[0].name || op == kOperators[2].name;
  if (!is_known || !model.text(node.domain).empty() || node.operands.size() < 2) return {};
  const std::optional<TensorDesc> data = find_desc(model, inference, node.operands[0].value);
  const std::optional<TensorDesc> indices = find_desc(model, inference, node.operands[1].value);
  const bool has_numbers =
      indices && (indices->dtype == tensor::DType::int64 || indices->dtype == tensor::DType::int32);
  if (!data || !has_numbers) return {};
  const ops::Node facts = node_facts(model, inference, id);
  const auto rank = static_cast<int64_t>(data->dims.size());
  const bool is_list = op == kOperators[0].name && indices->dims.size() == 1 &&
                       (facts.integer("axis", 0) == 0 || facts.integer("axis", 0) == -rank);
  const bool are_tuples = op == kOperators[2].name && indices->dims.size() == 2 && indices->dims[1] == 1 &&
                          facts.integer("batch_dims", 0) == 0;
  return is_list || are_tuples ? node.operands[1].value : ir::ValueId();
}

}  // namespace assay::engine
