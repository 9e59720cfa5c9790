#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "lint/check.h"

namespace assay::lint {
namespace {

std::string domain_text(const ir::Model& model, const ir::Node& node) {
  const std::string_view domain = model.text(node.domain);
  return domain.empty() ? "ai.onnx" : printable(domain);
}

void report_unknown(const Subject& subject, ir::NodeId id, Findings& findings) {
  const ir::Node& node = subject.model[id];
  const ops::Callee& callee = subject.callees[id];
  const std::string_view domain = subject.model.text(node.domain);
  const std::string name =
      fmt::format("{}::{}", domain_text(subject.model, node), printable(subject.model.text(node.op)));
  const bool is_listed = schema::newest_version(domain).has_value() && domain != "com.microsoft";
  if (callee.version == 0 && is_listed) return;  // the missing import is reported for the model
  if (is_listed) {
    const std::vector<const schema::Schema*> versions = schema::schema_versions(domain, subject.model.text(node.op));
    const std::string hint = versions.empty() ? "" : fmt::format(", it comes with version {}", versions.front()->since);
    findings.add(LintLevel::exception, kChecker, "unknown_operator", id,
                 fmt::format("No Op registered for {} with domain_version of {}{}",
                             printable(subject.model.text(node.op)), callee.version, hint));
  } else {
    findings.add(LintLevel::warning, kChecker, "custom_operator", id,
                 fmt::format("{} is not a registered function/op: what it does is not checked", name));
  }
}

// The versions of operators that follow those which nodes have; each is looked up once.
class NextVersions {
 public:
  // nullptr: there is none.
  const schema::Schema* of(const schema::Schema& schema) {
    const auto [entry, is_new] = next_.try_emplace(&schema);
    if (!is_new) return entry->second;
    const std::vector<const schema::Schema*> versions = schema::schema_versions(schema.domain, schema.name);
    const auto next = std::ranges::upper_bound(versions, schema.since, {}, &schema::Schema::since);
    return entry->second = next == versions.end() ? nullptr : *next;
  }

 private:
  std::unordered_map<const schema::Schema*, const schema::Schema*> next_;
};

// Reports operators that the next version no longer has.
void report_deprecated(const Subject& subject, ir::NodeId id, NextVersions& versions, Findings& findings) {
  const schema::Schema& schema = *subject.callees[id].schema;
  if (schema.deprecated) {
    findings.add(LintLevel::exception, kChecker, "deprecated_operator", id,
                 fmt::format("{} must not be used from version {} on", schema.name, schema.since));
    return;
  }
  const schema::Schema* const next = versions.of(schema);
  if (next == nullptr) return;
  if (next->deprecated) {
    findings.add(LintLevel::info, kChecker, "deprecated_later", id,
                 fmt::format("{} is deprecated from version {} on", schema.name, next->since));
    return;
  }
  for (const ir::Attribute& attribute : subject.model[id].attributes) {
    const std::string_view name = subject.model.text(attribute.name());
    if (!schema.find_attribute(name) || next->find_attribute(name)) continue;
    findings.add(
        LintLevel::info, kChecker, "attribute_removed_later", id,
        fmt::format("attribute `{}` of {} was removed in version {}", printable(name), schema.name, next->since));
  }
}

void report_operators(const Subject& subject, ir::NodeId id, NextVersions& versions, Findings& findings) {
  const ops::Callee& callee = subject.callees[id];
  if (callee.function || subject.model[id].op == ir::kEmpty) return;
  if (callee.schema) {
    report_deprecated(subject, id, versions, findings);
  } else {
    report_unknown(subject, id, findings);
  }
}

void look_at_operators(const Subject& subject, Findings& findings) {
  NextVersions versions;
  for (uint32_t i = 0; i < subject.model.node_slots(); ++i) {
    if (is_live(subject.model[ir::NodeId{i}])) report_operators(subject, ir::NodeId{i}, versions, findings);
  }
}

}  // namespace

Check check_operators() {
  return {
      "operators that the opset does not have or deprecates, custom operators", 10, {{.at_model = look_at_operators}}};
}

}  // namespace assay::lint
