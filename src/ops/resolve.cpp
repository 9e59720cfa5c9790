#include "ops/resolve.h"

#include <fmt/format.h>

#include "base/text.h"
#include "ops/compiled_part.h"
#include "schema/imports.h"

namespace assay::ops {

Resolver::Resolver(const ir::Model& model) : model_(model), callees_(model.node_slots()) {
  for (const ir::Function& function : model.functions()) {
    const std::string_view domain = schema::canonical_domain(model.text(function.domain));
    functions_.insert_or_assign({domain, function.name, function.overload}, &function);
    of_body_.emplace(function.body, &function);
  }
  resolve_graph(model.main_graph(), model.header().opset_imports);
  for (const ir::Function& function : model.functions()) resolve_graph(function.body, function.opset_imports);
}

void Resolver::refresh() {
  const uint32_t known = static_cast<uint32_t>(callees_.size());
  callees_.resize(model_.node_slots());
  for (uint32_t i = known; i < callees_.size(); ++i) {
    const ir::NodeId node{i};
    if (model_[node].alive && !model_[node].is_outputs) callees_[i] = resolve(model_[node], imports_of(node));
  }
}

// The imports of the main graph, or of the function that the node stands in.
const std::vector<ir::OpsetImport>& Resolver::imports_of(ir::NodeId node) const {
  const auto function = of_body_.find(model_.root(model_[node].graph));
  return function == of_body_.end() ? model_.header().opset_imports : function->second->opset_imports;
}

void Resolver::resolve_graph(ir::GraphId graph, const std::vector<ir::OpsetImport>& imports) {
  std::map<std::tuple<ir::Symbol, ir::Symbol, ir::Symbol>, Callee> known;  // a model has few operators
  std::vector<ir::GraphId> pending{graph};
  while (!pending.empty()) {
    const ir::GraphId current = pending.back();
    pending.pop_back();
    for (const ir::NodeId id : ir::nodes(model_, current)) {
      const ir::Node& node = model_[id];
      const auto [callee, is_new] = known.try_emplace({node.domain, node.op, node.overload});
      if (is_new) callee->second = resolve(node, imports);
      callees_[id.index] = callee->second;
      const std::vector<ir::GraphId> bodies = model_.bodies(node);
      pending.insert(pending.end(), bodies.begin(), bodies.end());
    }
  }
}

Callee Resolver::resolve(const ir::Node& node, const std::vector<ir::OpsetImport>& imports) const {
  Callee callee;
  const std::string_view domain = schema::canonical_domain(model_.text(node.domain));
  for (const ir::OpsetImport& import : imports) {
    if (schema::canonical_domain(model_.text(import.domain)) == domain) callee.version = import.version;
  }
  const auto function = functions_.find({domain, node.op, node.overload});
  if (function != functions_.end()) {
    callee.function = function->second;
    return callee;
  }
  // Models that use com.microsoft without importing it are common; it has one version.
  if (callee.version == 0 && domain == "com.microsoft") callee.version = 1;
  callee.schema = schema::find_schema(domain, model_.text(node.op), callee.version);
  // In a version that is older than the operator there is no schema, and so nothing to run by.
  const bool holds = callee.schema != nullptr || !schema::is_known_operator(domain, model_.text(node.op));
  if (holds) callee.op = find_operator(domain, model_.text(node.op), callee.version);
  return callee;
}

std::string refusal(const ir::Model& model, const ir::Node& node, const Callee& callee) {
  if (callee.function || callee.op) return {};
  const std::string_view domain = node.domain == ir::kEmpty ? "ai.onnx" : model.text(node.domain);
  const std::string name = fmt::format("{}::{}", printable(domain), printable(model.text(node.op)));
  if (callee.version == 0) return fmt::format("{}: the model imports no version of its domain", name);
  if (!callee.schema) return fmt::format("{} is not known in version {}", name, callee.version);
  if (is_compiled_part(model, node)) {
    return fmt::format(
        "{} holds a part of the model that was compiled for an execution provider of ONNX Runtime, which "
        "alone runs it",
        name);
  }
  return fmt::format("the reference has no {} of version {}", name, callee.version);
}

}  // namespace assay::ops
