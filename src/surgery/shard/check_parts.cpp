#include "surgery/shard/check_parts.h"

#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/verify.h"
#include "surgery/boundary_types.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::ValueId;

class PartCheck {
 public:
  PartCheck(ir::Model& model, ir::Edit& edit, ops::LiveInference& live, const std::vector<LocalPart>& parts,
            int64_t devices)
      : model_(model), edit_(edit), live_(live), parts_(parts), devices_(devices) {
    for (const LocalPart& part : parts) changed_.push_back(part.value);
  }

  std::string run() {
    std::optional<Fault> fault;
    for (const int64_t length : {int64_t{5}, int64_t{7}}) {
      fault = fault_of_parts(length);
      if (!fault) return {};
    }
    if (!fault->has_whole) return fault->text;
    fail(ErrorCode::unsupported, "the sequence cannot be split: a value that is whole on each device meets a part: {}",
         fault->text);
  }

 private:
  struct Fault {
    std::string text;
    bool has_whole = false;  // an operand that no collective made
  };

  // The first node whose operands do not fit each other, one with a whole operand before others.
  std::optional<Fault> fault_of_parts(int64_t length) {
    const std::set<ir::DimId> open = open_dims();
    std::vector<std::pair<ValueId, ir::TypeId>> old;
    const auto set = [&](ValueId value, ir::TypeId type) {
      old.emplace_back(value, model_[value].type);
      if (type) edit_.set_type(value, with_length(type, open, length));
    };
    for (const ValueId input : model_[model_.main_graph()].inputs) set(input, model_[input].type);
    for (const LocalPart& part : parts_) set(part.value, local_type(part, length));
    std::optional<Fault> first;
    for (const ops::InferenceFinding& fault : renew_shapes(model_, edit_, live_, changed_)) {
      if (fault.code != "shape") continue;
      const bool has_whole = reads_whole(fault.node);
      if (first && (first->has_whole || !has_whole)) continue;
      first = Fault{fmt::format("{}: {}", ir::describe(model_, fault.node), fault.message), has_whole};
    }
    for (const auto& [value, type] : old) {
      if (type) edit_.set_type(value, type);
    }
    return first;
  }

  // True if an operand is computed from nothing that a collective made, as constants are.
  bool reads_whole(NodeId reader) const {
    std::set<ValueId> made(changed_.begin(), changed_.end());
    const auto is_whole = [&](const ir::Use& use) { return use.value && !made.contains(use.value); };
    for (const NodeId node : ir::nodes(model_, model_.main_graph())) {
      const std::span<const ir::Use> operands = model_[node].operands;
      if (node == reader) return std::ranges::any_of(operands, is_whole);
      const bool is_made = std::ranges::any_of(operands, [&](const ir::Use& use) { return made.contains(use.value); });
      if (is_made) made.insert(model_[node].results.begin(), model_[node].results.end());
    }
    return true;
  }

  // The names that inputs have for the length of what is split.
  std::set<ir::DimId> open_dims() const {
    std::set<ir::DimId> open;
    for (const LocalPart& part : parts_) {
      if (!part.dim || !part.whole || static_cast<size_t>(*part.dim) >= model_[part.whole].dims.size()) continue;
      const ir::DimId dim = model_[part.whole].dims[static_cast<size_t>(*part.dim)];
      if (dim != ir::kUnknownDim && !model_.dims().as_constant(dim)) open.insert(dim);
    }
    return open;
  }

  // The type where each device has a part of this length.
  ir::TypeId with_length(ir::TypeId id, const std::set<ir::DimId>& open, int64_t length) {
    ir::Type type = model_[id];
    for (ir::DimId& dim : type.dims) {
      if (open.contains(dim)) dim = model_.dims().constant(length * devices_);
    }
    return model_.types().intern(std::move(type));
  }

  // `length`: of a part of an open dim. Invalid where the type is not known.
  ir::TypeId local_type(const LocalPart& part, int64_t length) {
    if (!part.dim || !part.whole || !model_[part.whole].ranked) return part.whole;
    ir::Type type = model_[part.whole];
    if (static_cast<size_t>(*part.dim) >= type.dims.size()) return {};
    ir::DimId& dim = type.dims[static_cast<size_t>(*part.dim)];
    const std::optional<int64_t> size = model_.dims().as_constant(dim);
    if (size && *size % devices_ != 0) return {};
    dim = model_.dims().constant(size ? *size / devices_ : length);
    return model_.types().intern(std::move(type));
  }

  ir::Model& model_;
  ir::Edit& edit_;
  ops::LiveInference& live_;
  const std::vector<LocalPart>& parts_;
  int64_t devices_;
  std::vector<ValueId> changed_;
};

}  // namespace

std::string check_parts(ir::Model& model, ir::Edit& edit, ops::LiveInference& live, const std::vector<LocalPart>& parts,
                        int64_t devices) {
  return PartCheck(model, edit, live, parts, devices).run();
}

}  // namespace assay::surgery
