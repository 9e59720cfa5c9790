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

// What the operator's next version no longer has.
void report_deprecated(const Subject& subject, ir::NodeId id, Findings& findings) {
  const schema::Schema& schema = *subject.callees[id].schema;
  if (schema.deprecated) {
    findings.add(LintLevel::exception, kChecker, "deprecated_operator", id,
                 fmt::format("{} must not be used from version {} on", schema.name, schema.since));
    return;
  }
  const ir::Node& node = subject.model[id];
  for (const schema::Schema* next : schema::schema_versions(schema.domain, schema.name)) {
    if (next->since <= schema.since) continue;
    if (next->deprecated) {
      findings.add(LintLevel::info, kChecker, "deprecated_later", id,
                   fmt::format("{} is deprecated from version {} on", schema.name, next->since));
      return;
    }
    for (const ir::Attribute& attribute : node.attributes) {
      const std::string_view name = subject.model.text(attribute.name());
      if (!schema.find_attribute(name) || next->find_attribute(name)) continue;
      findings.add(
          LintLevel::info, kChecker, "attribute_removed_later", id,
          fmt::format("attribute `{}` of {} was removed in version {}", printable(name), schema.name, next->since));
    }
    return;
  }
}

void report(const Subject& subject, ir::NodeId id, Findings& findings) {
  const ops::Callee& callee = subject.callees[id];
  if (callee.function || subject.model[id].op == ir::kEmpty) return;
  if (callee.schema) {
    report_deprecated(subject, id, findings);
  } else {
    report_unknown(subject, id, findings);
  }
}

}  // namespace

Check check_operators() {
  return {"operators that the opset does not have or deprecates, custom operators", 10, {{.at_node = report}}};
}

}  // namespace assay::lint
