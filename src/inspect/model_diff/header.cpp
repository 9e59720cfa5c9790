#include <map>

#include <fmt/format.h>

#include "inspect/model_diff/parts.h"

namespace assay::inspect {
namespace {

using results::FactChange;
using Facts = std::map<std::string, std::string>;

std::optional<std::string> find(const Facts& facts, const std::string& key) {
  const auto found = facts.find(key);
  return found == facts.end() ? std::nullopt : std::optional(found->second);
}

void diff_facts(const Facts& a, const Facts& b, std::vector<FactChange>& changes) {
  Facts all = a;
  all.insert(b.begin(), b.end());
  for (const auto& [what, value] : all) {
    FactChange change = {what, find(a, what), find(b, what), {}};
    if (change.before != change.after) changes.push_back(std::move(change));
  }
}

Facts opset_facts(const ir::Model& model, const std::vector<ir::OpsetImport>& imports) {
  Facts facts;
  for (const ir::OpsetImport& import : imports) {
    const std::string_view domain = model.text(import.domain);
    facts[fmt::format("opset `{}`", domain.empty() ? "ai.onnx" : domain)] = fmt::format("{}", import.version);
  }
  return facts;
}

Facts metadata_facts(const ir::Header& header) {
  Facts facts;
  for (const auto& [key, value] : header.metadata) facts[fmt::format("metadata `{}`", key)] = value;
  return facts;
}

using Key = std::tuple<std::string_view, std::string_view, std::string_view>;

std::map<Key, const ir::Function*> functions_of(const ir::Model& model) {
  std::map<Key, const ir::Function*> functions;
  for (const ir::Function& f : model.functions()) {
    functions.emplace(Key(model.text(f.domain), model.text(f.name), model.text(f.overload)), &f);
  }
  return functions;
}

std::string label(const Key& key) {
  const auto& [domain, name, overload] = key;
  return fmt::format("{}::{}{}{}", domain, name, overload.empty() ? "" : ":", overload);
}

std::string names_text(const ir::Model& model, const std::vector<ir::Symbol>& names) {
  std::string text;
  for (const ir::Symbol name : names) text += fmt::format("{}{}", text.empty() ? "" : ", ", model.text(name));
  return text;
}

std::vector<FactChange> diff_function(const DiffContext& context, const ir::Function& a, const ir::Function& b) {
  std::vector<FactChange> changes;
  const auto count = [](size_t number) { return fmt::format("{}", number); };
  add_change("number of inputs", count(context.a[a.body].inputs.size()), count(context.b[b.body].inputs.size()),
             changes);
  add_change("attribute names", names_text(context.a, a.attribute_names), names_text(context.b, b.attribute_names),
             changes);
  diff_attributes(context, a.attribute_defaults, b.attribute_defaults, changes);
  diff_facts(opset_facts(context.a, a.opset_imports), opset_facts(context.b, b.opset_imports), changes);
  add_change("doc string", a.doc, b.doc, changes);
  diff_wiring(context, "output", {context.a.outputs(a.body), context.b.outputs(b.body)}, changes);
  return changes;
}

}  // namespace

void add_change(std::string what, std::string before, std::string after, std::vector<FactChange>& changes) {
  if (before != after) changes.push_back({std::move(what), std::move(before), std::move(after), {}});
}

void diff_header(const DiffContext& context, results::ModelDiff& diff) {
  const ir::Header& a = context.a.header();
  const ir::Header& b = context.b.header();
  const ir::Graph& graph_a = context.a[context.a.main_graph()];
  const ir::Graph& graph_b = context.b[context.b.main_graph()];
  add_change("IR version", fmt::format("{}", a.ir_version), fmt::format("{}", b.ir_version), diff.header);
  diff_facts(opset_facts(context.a, a.opset_imports), opset_facts(context.b, b.opset_imports), diff.header);
  add_change("producer name", a.producer_name, b.producer_name, diff.header);
  add_change("producer version", a.producer_version, b.producer_version, diff.header);
  add_change("domain", a.domain, b.domain, diff.header);
  add_change("model version", fmt::format("{}", a.model_version), fmt::format("{}", b.model_version), diff.header);
  add_change("doc string", a.doc, b.doc, diff.header);
  diff_facts(metadata_facts(a), metadata_facts(b), diff.header);
  if (!context.options.ignore_names) {
    add_change("graph name", std::string(context.a.text(graph_a.name)), std::string(context.b.text(graph_b.name)),
               diff.header);
  }
  add_change("graph doc string", graph_a.doc, graph_b.doc, diff.header);
}

void diff_functions(const DiffContext& context, results::ModelDiff& diff) {
  const std::map<Key, const ir::Function*> in_a = functions_of(context.a);
  const std::map<Key, const ir::Function*> in_b = functions_of(context.b);
  for (const auto& [key, function] : in_a) {
    const auto other = in_b.find(key);
    if (other == in_b.end()) {
      diff.functions.removed.push_back(label(key));
      continue;
    }
    std::vector<FactChange> changes = diff_function(context, *function, *other->second);
    if (!changes.empty()) diff.functions.changed.push_back({label(key), std::move(changes)});
  }
  for (const auto& [key, function] : in_b) {
    if (!in_a.contains(key)) diff.functions.added.push_back(label(key));
  }
}

}  // namespace assay::inspect
