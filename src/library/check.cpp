#include "tasks/check.h"

#include "library/content.h"
#include "library/observer.h"

namespace assay {

std::vector<LintFinding> Model::lint(bool is_static, Observer* observer) const {
  library::TaskObserver watching(observer);
  tasks::LintRequest request;
  request.model = library::source_of(*this);
  request.is_static = is_static;
  std::vector<LintFinding> findings;
  for (const results::LintEntry& entry : tasks::lint(request, watching).entries) {
    findings.push_back(
        {static_cast<LintFinding::Level>(entry.level), entry.code, entry.node, entry.message, entry.remedy});
  }
  return findings;
}

std::vector<Compatibility> Model::check_compatibility(const std::vector<std::string>& backends,
                                                      Observer* observer) const {
  library::TaskObserver watching(observer);
  tasks::CompatibilityRequest request;
  request.model = library::source_of(*this);
  request.backends = backends;
  std::vector<Compatibility> found;
  for (const results::BackendCompatibility& backend : tasks::check_compatibility(request, watching).backends) {
    Compatibility& entry = found.emplace_back();
    entry.backend = backend.backend;
    entry.usable = backend.usable;
    entry.accepts = backend.usable && backend.accepts_all();
    entry.reason = backend.usable ? backend.whole_refusal : backend.version;
    for (const results::RefusedNode& node : backend.refused) entry.refused.emplace_back(node.node, node.reason);
  }
  return found;
}

}  // namespace assay
