#include "debug/subgraph.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "ir/constants.h"
#include "ir/edit.h"
#include "ir/naming.h"
#include "ir/queries.h"
#include "ir/walk.h"
#include "surgery/dead.h"
#include "surgery/make_input.h"

namespace assay::debug {
namespace {

using ir::NodeId;
using ir::ValueId;

constexpr uint32_t kNoPart = std::numeric_limits<uint32_t>::max();

bool is_call_of(const ir::Node& node, const ir::Function& function) {
  return node.op == function.name && node.domain == function.domain && node.overload == function.overload;
}

// Functions that no node of the main graph or of other functions that are called calls.
void drop_unused_functions(ir::Model& model) {
  const std::vector<ir::Function>& functions = model.functions();
  std::vector<bool> is_called(functions.size());
  std::vector<ir::GraphId> pending = {model.main_graph()};
  while (!pending.empty()) {
    const ir::GraphId graph = pending.back();
    pending.pop_back();
    for (const NodeId node : ir::nodes(model, graph)) {
      for (const ir::GraphId body : model.bodies(model[node])) pending.push_back(body);
      for (size_t i = 0; i < functions.size(); ++i) {
        if (is_called[i] || !is_call_of(model[node], functions[i])) continue;
        is_called[i] = true;
        pending.push_back(functions[i].body);
      }
    }
  }
  std::vector<size_t> unused;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (!is_called[i]) unused.push_back(i);
  }
  if (!unused.empty()) ir::Edit(model).erase_functions(unused);
}

class Cutter {
 public:
  Cutter(const Parts& parts, const Subset& kept, const SubgraphOptions& options)
      : source_(parts.model()),
        options_(options),
        model_(source_.copy()),
        edit_(model_),
        is_kept_(source_.node_slots()) {
    for (const NodeId node : ir::nodes(source_, source_.main_graph()))
      is_kept_[node.index] = ir::is_constant_node(source_, node);
    for (const uint32_t part : kept) is_kept_[parts.node(part).index] = true;
    for (const uint32_t part : kept) add_cuts(parts.node(part));
    first_ = parts.node(kept.front());
    for (const uint32_t part : kept) add_outputs(parts.node(part));
  }

  ir::Model run() {
    choose_inputs();
    for (const ValueId value : cuts_) inputs_.contains(value) ? make_input(value) : freeze(value);
    edit_.set_outputs(model_.main_graph(), outputs_);
    surgery::remove_dead(model_);
    drop_unused_inputs();
    drop_unused_functions(model_);
    return std::move(model_);
  }

 private:
  bool is_main(ValueId value) const { return source_[value].graph == source_.main_graph(); }

  void add_cuts(NodeId node) {
    ir::for_each_operand(source_, node, [&](ValueId value) {
      const NodeId producer = source_[value].producer;
      if (!is_main(value) || !producer || is_kept_[producer.index]) return;
      if (known_cuts_.insert(value).second) cuts_.push_back(value);
    });
  }

  // Adds those of its results that nothing here needs: the model's, and those that something else needed.
  void add_outputs(NodeId node) {
    for (const ValueId result : source_[node].results) {
      if (!result || source_[result].name == ir::kEmpty) continue;
      bool is_used_here = false;
      for (const ir::Use& use : ir::uses(source_, result)) {
        if (source_[use.user].is_outputs && source_[use.user].graph == source_.main_graph()) continue;
        const NodeId user = source_.ancestor_in(use.user, source_.main_graph());
        is_used_here = is_used_here || (user && is_kept_[user.index]);
      }
      const bool is_of_model = ir::is_output(source_, result);
      if (is_of_model || (!is_used_here && source_[result].first_use != nullptr)) outputs_.push_back(result);
    }
    if (is_dead(node)) outputs_.push_back(ir::result(source_, node));
  }

  // Nobody ever needed its results: it gives the first one.
  bool is_dead(NodeId node) const {
    if (!ir::result(source_, node)) return false;
    return std::ranges::none_of(source_[node].results,
                                [&](ValueId result) { return result && source_[result].first_use != nullptr; });
  }

  bool says_shape(ValueId value) const {
    const ir::TypeId type = source_[value].type;
    if (!type || source_[type].kind != ir::TypeKind::tensor) return false;
    const tensor::DTypeKind kind = tensor::kind(source_[type].dtype);
    const bool is_whole = kind == tensor::DTypeKind::signed_integer || kind == tensor::DTypeKind::unsigned_integer ||
                          kind == tensor::DTypeKind::boolean;
    return is_whole && source_[type].ranked && source_[type].dims.size() <= 1;
  }

  void choose_inputs() {
    std::set<ValueId> of_first;
    ir::for_each_operand(source_, first_, [&](ValueId value) { of_first.insert(value); });
    for (const ValueId value : cuts_) {
      const bool is_branch = options_.rule == CutRule::branches && !of_first.contains(value);
      if (!is_branch && !says_shape(value)) inputs_.insert(value);
    }
    if (!inputs_.empty()) return;
    for (const ValueId value : cuts_) {
      if (options_.rule == CutRule::inputs || of_first.contains(value)) inputs_.insert(value);
    }
  }

  bool is_complete(ir::TypeId type) const {
    return type && (model_[type].kind != ir::TypeKind::tensor ||
                    (model_[type].dtype != tensor::DType::undefined && model_[type].ranked));
  }

  tensor::Datum known(ValueId value) const {
    std::optional<tensor::Datum> found = options_.value_of ? options_.value_of(value) : std::nullopt;
    if (found && found->is_tensor()) return *found;
    fail(ErrorCode::unsupported, "neither the type nor the content of `{}` is known",
         printable(source_.text(source_[value].name)));
  }

  void make_input(ValueId value) {
    ir::TypeId type = model_[value].type;
    if (!is_complete(type)) {
      const tensor::Datum datum = known(value);
      std::vector<ir::DimId> dims;
      for (const int64_t dim : datum.tensor().shape()) dims.push_back(model_.dims().constant(dim));
      type = model_.types().tensor(datum.declared(), std::move(dims));
    }
    surgery::make_input(model_, value, type);
  }

  void freeze(ValueId value) {
    const std::string name(source_.text(source_[value].name));
    if (options_.on_frozen) options_.on_frozen(name);
    const tensor::Tensor content = known(value).tensor();
    edit_.rename(value, ir::fresh_name(edit_, name + "_detached"));
    edit_.replace_uses(value, ir::add_initializer(edit_, {model_.main_graph(), edit_.intern(name), content}));
  }

  void drop_unused_inputs() {
    std::vector<ValueId> unused;
    for (const ValueId input : model_[model_.main_graph()].inputs) {
      if (model_[input].first_use == nullptr) unused.push_back(input);
    }
    if (!unused.empty()) edit_.erase(unused);
  }

  const ir::Model& source_;
  const SubgraphOptions& options_;
  ir::Model model_;
  ir::Edit edit_;
  std::vector<bool> is_kept_;  // by node
  std::vector<ValueId> cuts_;
  std::set<ValueId> known_cuts_;
  std::set<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  NodeId first_;
};

}  // namespace

Parts::Parts(const ir::Model& model) : model_(model), part_of_(model.node_slots(), kNoPart) {
  for (const NodeId node : ir::nodes(model, model.main_graph())) {
    if (ir::is_constant_node(model, node)) continue;
    part_of_[node.index] = count();
    nodes_.push_back(node);
  }
}

Subset Parts::with_producers(const Subset& parts) const { return closed(parts, true); }
Subset Parts::with_users(const Subset& parts) const { return closed(parts, false); }

std::vector<Subset> Parts::units(FunctionRef<bool(ValueId value)> is_known) const {
  Subset first(count());  // leads to the first part of the unit
  std::iota(first.begin(), first.end(), 0);
  const auto first_of = [&](uint32_t part) {
    while (first[part] != part) part = first[part] = first[first[part]];
    return part;
  };
  for (uint32_t part = 0; part < count(); ++part) {
    for (const ValueId result : model_[nodes_[part]].results) {
      if (!result || is_known(result)) continue;
      for (const ir::Use& use : ir::uses(model_, result)) {
        const NodeId user = model_.ancestor_in(use.user, model_.main_graph());
        if (!user || part_of_[user.index] == kNoPart) continue;
        const uint32_t a = first_of(part), b = first_of(part_of_[user.index]);
        first[std::max(a, b)] = std::min(a, b);
      }
    }
  }
  std::map<uint32_t, Subset> units;
  for (uint32_t part = 0; part < count(); ++part) units[first_of(part)].push_back(part);
  std::vector<Subset> all;
  for (auto& [ignored, unit] : units) all.push_back(std::move(unit));
  return all;
}

Subset Parts::closed(const Subset& parts, bool upwards) const {
  std::vector<bool> is_in(count());
  Subset pending = parts;
  for (const uint32_t part : parts) is_in[part] = true;
  const auto add = [&](NodeId node) {
    const uint32_t part = node ? part_of_[node.index] : kNoPart;
    if (part == kNoPart || is_in[part]) return;
    is_in[part] = true;
    pending.push_back(part);
  };
  while (!pending.empty()) {
    const NodeId node = nodes_[pending.back()];
    pending.pop_back();
    if (upwards) {
      ir::for_each_operand(model_, node, [&](ValueId value) {
        if (model_[value].graph == model_.main_graph()) add(model_[value].producer);
      });
      continue;
    }
    for (const ValueId result : model_[node].results) {
      if (!result) continue;
      for (const ir::Use& use : ir::uses(model_, result)) {
        if (!model_[use.user].is_outputs || model_[use.user].graph != model_.main_graph()) {
          add(model_.ancestor_in(use.user, model_.main_graph()));
        }
      }
    }
  }
  Subset all;
  for (uint32_t part = 0; part < count(); ++part) {
    if (is_in[part]) all.push_back(part);
  }
  return all;
}

ir::Model subgraph(const Parts& parts, const Subset& kept, const SubgraphOptions& options) {
  return Cutter(parts, kept, options).run();
}

}  // namespace assay::debug
