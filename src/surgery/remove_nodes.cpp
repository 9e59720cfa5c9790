#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/edit.h"
#include "ir/naming.h"
#include "ir/queries.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "match/named_nodes.h"
#include "ops/inference.h"
#include "passes/handing_on.h"
#include "surgery/prune.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::ValueId;

bool are_different(const ops::Type& a, const ops::Type& b) {
  if (!a.known || !b.known) return false;
  const bool has_dtypes = a.dtype != tensor::DType::undefined && b.dtype != tensor::DType::undefined;
  if (a.kind != b.kind || (has_dtypes && a.dtype != b.dtype)) return true;
  if (!a.dims || !b.dims) return false;
  return !std::ranges::equal(*a.dims, *b.dims, [](const ops::Dim& x, const ops::Dim& y) {
    return !x.is_number() || !y.is_number() || x.equals(y);
  });
}

class NodeRemoval {
 public:
  explicit NodeRemoval(ir::Model& model) : model_(model), edit_(model), inference_(model) { inference_.run(); }

  std::vector<NodeId> find(const NodeChoice& choice, Diagnostics& findings) const {
    std::vector<NodeId> nodes;
    for (const NodeId node : ir::live_nodes(model_)) nodes.push_back(node);
    std::vector<bool> chosen = match::named_nodes(model_, nodes, choice.names, findings);
    for (const std::string& type : choice.op_types) {
      bool is_found = false;
      for (const NodeId node : nodes) {
        if (model_.text(model_[node].op) != type) continue;
        chosen[node.index] = true;
        is_found = true;
      }
      if (!is_found) fail_unknown(type, nodes);
    }
    std::erase_if(nodes, [&](NodeId node) { return !chosen[node.index]; });
    return nodes;
  }

  void check(NodeId id) const {
    const ir::Node& node = model_[id];
    const bool has_ends = !node.operands.empty() && node.operands[0].value && !node.results.empty();
    if (!has_ends) refuse(id, "it has no first input");
    for (size_t i = 1; i < node.results.size(); ++i) {
      if (node.results[i] && model_[node.results[i]].first_use) {
        refuse(id, fmt::format("its result `{}` is used too", printable(name_of(node.results[i]))));
      }
    }
    if (!node.results[0]) return;
    const ops::Type from = type_of(node.operands[0].value);
    const ops::Type& to = inference_.type(node.results[0]);
    if (!are_different(from, to)) return;
    refuse(id, fmt::format("its input `{}` is {}, its result `{}` {}", printable(name_of(node.operands[0].value)),
                           from.text(), printable(name_of(node.results[0])), to.text()));
  }

  void remove(NodeId id) {
    const ValueId from = model_[id].operands[0].value;
    const ValueId result = model_[id].results[0];
    if (from == result) refuse(id, "it reads its own result");
    if (result && ir::is_output(model_, result)) {
      if (!can_take_name(from, result)) return passes::make_identity(edit_, id);
      const ir::Symbol name = model_[result].name;
      edit_.rename(result, ir::fresh_name(edit_, std::string(model_.text(name)) + "_removed"));
      edit_.rename(from, name);
    }
    if (result && model_[result].first_use) edit_.replace_uses(result, from);
    for (const ir::Use& use : model_[id].operands) {
      if (use.value && model_[use.value].kind == ir::ValueKind::initializer) lost_.insert(use.value);
    }
    edit_.erase(id);
  }

  void erase_unused_initializers() {
    std::vector<ValueId> unused;
    for (const ValueId value : lost_) {
      if (model_[value].alive && !model_[value].first_use) unused.push_back(value);
    }
    edit_.erase(unused);
  }

 private:
  ops::Type type_of(ValueId value) const {
    const tensor::Tensor* const constant = inference_.constant(value);
    return constant ? ops::type_of(*constant) : inference_.type(value);
  }

  // An output keeps its name where its new source can have it.
  bool can_take_name(ValueId from, ValueId result) const {
    const ir::Value& source = model_[from];
    return source.kind == ir::ValueKind::result && source.graph == model_[result].graph && !ir::is_output(model_, from);
  }

  std::string_view name_of(ValueId value) const { return model_.text(model_[value].name); }

  [[noreturn]] void refuse(NodeId id, std::string_view reason) const {
    fail(ErrorCode::usage, "{} cannot be removed: {}", ir::describe(model_, id), reason);
  }

  [[noreturn]] void fail_unknown(const std::string& type, const std::vector<NodeId>& nodes) const {
    std::vector<std::string> known;
    for (const NodeId node : nodes) known.emplace_back(model_.text(model_[node].op));
    std::ranges::sort(known);
    const std::optional<std::string> near = did_you_mean(type, known);
    fail(ErrorCode::usage, "the model has no node of the type `{}`{}", printable(type),
         near ? fmt::format("; did you mean `{}`?", printable(*near)) : "");
  }

  ir::Model& model_;
  ir::Edit edit_;
  ops::Inference inference_;
  std::set<ValueId> lost_;  // initializers that removed nodes read
};

}  // namespace

size_t remove_nodes(ir::Model& model, const NodeChoice& choice, Diagnostics& findings) {
  NodeRemoval removal(model);
  const std::vector<NodeId> nodes = removal.find(choice, findings);
  for (const NodeId node : nodes) removal.check(node);
  for (const NodeId node : nodes) removal.remove(node);
  removal.erase_unused_initializers();
  return nodes.size();
}

}  // namespace assay::surgery
