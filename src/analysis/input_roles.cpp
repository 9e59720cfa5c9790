#include "analysis/input_roles.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "ops/traits.h"
#include "tensor/casts.h"

namespace assay::analysis {
namespace {

using exec::InputRole;

class RoleFinder {
 public:
  explicit RoleFinder(const ir::Model& model) : model_(model) {}

  std::optional<InputRole> find(ir::ValueId input) {
    rows_ = 0;
    seen_.clear();
    follow(input);
    const std::string name(model_.text(model_[input].name));
    if (rows_ > 0) return InputRole{name, InputRole::Kind::index, rows_};
    if (to_lower(name).find("mask") != std::string::npos) return InputRole{name, InputRole::Kind::mask, 0};
    return std::nullopt;
  }

 private:
  void follow(ir::ValueId start) {
    std::vector<ir::ValueId> open = {start};
    while (!open.empty()) {
      const ir::ValueId value = open.back();
      open.pop_back();
      if (!seen_.insert(value.index).second) continue;
      for (const ir::Use& use : ir::uses(model_, value)) {
        const ir::Node& node = model_[use.user];
        if (node.is_outputs) continue;
        if (passes_on(node, use)) open.push_back(node.results[0]);
        look_at(node, use);
      }
    }
  }

  // True if the elements are those of the first result, or among them.
  bool passes_on(const ir::Node& node, const ir::Use& use) const {
    const ops::Traits& traits = ops::traits(model_, use.user);
    const bool is_data = use.index == 0 || traits.range == ops::ValueRange::all;
    return is_data && (traits.is(ops::Nature::movement) || traits.is(ops::Nature::conversion)) &&
           !node.results.empty() && node.results[0].valid();
  }

  void look_at(const ir::Node& node, const ir::Use& use) {
    const std::string_view op = model_.text(node.op);
    const uint32_t index = use.index;
    const ops::Traits& traits = ops::traits(model_, use.user);
    if (traits.is(ops::Nature::movement) && traits.indices.contains(index))
      limit_by_dim(node.operands[0].value, op.ends_with("ND") ? 0 : axis_of(node));
    if (traits.is(ops::Nature::normalization) && traits.indices.contains(index) && node.operands.size() > 4) {
      limit_by_dim(node.operands[index == 0 ? 2 : 4].value, 0);  // of words and segments
    }
    if (traits.is(ops::Nature::generator) && traits.indices.contains(index) && node.operands.size() > 1)
      limit_by_scalar(node.operands[1].value);
  }

  int64_t axis_of(const ir::Node& node) const {
    const ir::Attribute* axis = model_.find_attribute(node, "axis");
    return axis != nullptr && axis->type() == ir::AttributeType::integer ? axis->integer() : 0;
  }

  void limit(int64_t rows) {
    if (rows > 0) rows_ = rows_ == 0 ? rows : std::min(rows_, rows);
  }

  void limit_by_dim(ir::ValueId table, int64_t axis) {
    if (!table.valid()) return;
    const ir::Value& value = model_[table];
    if (value.constant.valid()) {
      const tensor::Shape& shape = model_[value.constant].tensor.shape();
      const int64_t at = axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis;
      if (at >= 0 && at < static_cast<int64_t>(shape.size())) limit(shape[static_cast<size_t>(at)]);
    } else if (value.type.valid() && model_[value.type].kind == ir::TypeKind::tensor && model_[value.type].ranked) {
      const auto& dims = model_[value.type].dims;
      const int64_t at = axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis;
      if (at >= 0 && at < static_cast<int64_t>(dims.size())) {
        limit(model_.dims().as_constant(dims[static_cast<size_t>(at)]).value_or(0));
      }
    }
  }

  void limit_by_scalar(ir::ValueId id) {
    if (!id.valid() || !model_[id].constant.valid()) return;
    const tensor::Tensor& depth = model_[model_[id].constant].tensor;
    if (depth.count() != 1 || tensor::kind(depth.dtype()) != tensor::DTypeKind::signed_integer) return;
    int64_t number = 0;
    tensor::load(depth.dtype(), depth.bytes(), 0, std::span<int64_t>(&number, 1));
    limit(number);
  }

  const ir::Model& model_;
  int64_t rows_ = 0;
  std::set<uint32_t> seen_;
};

bool is_discrete(const ir::Model& model, ir::ValueId input) {
  const ir::TypeId type = model[input].type;
  if (!type.valid() || model[type].kind != ir::TypeKind::tensor) return false;
  return tensor::is_integer(model[type].dtype) || model[type].dtype == tensor::DType::boolean;
}

}  // namespace

std::vector<InputRole> input_roles(const ir::Model& model) {
  std::vector<InputRole> roles;
  RoleFinder finder(model);
  for (const ir::ValueId input : exec::required_inputs(model)) {
    if (!is_discrete(model, input)) continue;
    if (std::optional<InputRole> role = finder.find(input)) roles.push_back(std::move(*role));
  }
  return roles;
}

}  // namespace assay::analysis
