#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "lint/check.h"
#include "schema/imports.h"

namespace assay::lint {
namespace {

// The oldest IR version that a release of ONNX with this operator set came with; 0 if none had it.
int64_t least_ir_version(std::string_view domain, int64_t version) {
  for (const schema::Release& release : schema::releases()) {
    const int64_t own = domain.empty() || domain == "ai.onnx" ? release.opset : domain == "ai.onnx.ml" ? release.ml : 0;
    if (own >= version) return release.ir;
  }
  return 0;
}

// The newest that released runtimes load; a model that needs more runs on this machine's reference only.
struct Runtime {
  std::string_view name;
  int64_t ir;
  int64_t opset;
};
constexpr Runtime kRuntime = {"ONNX Runtime 1.31", 13, 26};

void report_too_new(const ir::Header& header, int64_t opset, Findings& findings) {
  if (header.ir_version > kRuntime.ir) {
    findings.add(
        LintLevel::warning, kLoader, "newer_than_runtimes",
        fmt::format("{} loads IR versions up to {}, the model has {}", kRuntime.name, kRuntime.ir, header.ir_version));
  }
  if (opset > kRuntime.opset) {
    const std::string message =
        fmt::format("{} loads operator sets up to {}, the model needs {}", kRuntime.name, kRuntime.opset, opset);
    findings.add(LintLevel::warning, kLoader, "newer_than_runtimes", message).remedy = "opset";
  }
}

void look_at_versions(const Subject& subject, Findings& findings) {
  const ir::Header& header = subject.model.header();
  std::map<std::string_view, int64_t> domains;
  for (const ir::OpsetImport& import : header.opset_imports) {
    const std::string_view domain = subject.model.text(import.domain);
    const auto [first, is_new] = domains.emplace(schema::canonical_domain(domain), import.version);
    if (!is_new) {
      const bool agree = first->second == import.version;
      findings.add(agree ? LintLevel::warning : LintLevel::exception, kChecker, "opset_imported_twice",
                   fmt::format("domain `{}` is imported twice", domain.empty() ? "ai.onnx" : printable(domain)));
    }
    if (import.version < 1) {
      findings.add(LintLevel::exception, kChecker, "opset_version",
                   fmt::format("version {} of domain `{}` does not exist", import.version,
                               domain.empty() ? "ai.onnx" : printable(domain)));
    }
    const int64_t least = least_ir_version(domain, import.version);
    if (least > header.ir_version && header.ir_version > 0) {
      findings.add(
          LintLevel::warning, kChecker, "ir_opset_mismatch",
          fmt::format("IR version {} is older than operator set {} of `{}`, which came with IR version {}",
                      header.ir_version, import.version, domain.empty() ? "ai.onnx" : printable(domain), least));
    }
  }
  report_too_new(header, schema::imported_version(subject.model, ""), findings);
}

}  // namespace

Check check_versions() {
  return {"IR versions and operator sets that do not go together", 5, {{.at_model = look_at_versions}}};
}

}  // namespace assay::lint
