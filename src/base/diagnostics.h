#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class Severity { info, warning, error };

// One finding about a model or a file. `code` is a stable word for scripts, `node` the name of what it is about,
// `remedy` the setting of a request that lifts it, as Error::remedy().
struct Diagnostic {
  Severity severity;
  std::string_view code;  // a literal
  std::string node;
  std::string message;
  std::string remedy = {};
};

// Findings in the order they were made. Beyond the cap they are counted, not kept.
class Diagnostics {
 public:
  explicit Diagnostics(size_t cap = 1000) : cap_(cap) {}

  void add(Diagnostic finding);
  void error(std::string_view code, std::string node, std::string message) {
    add({Severity::error, code, std::move(node), std::move(message)});
  }
  void warn(std::string_view code, std::string node, std::string message, std::string remedy = {}) {
    add({Severity::warning, code, std::move(node), std::move(message), std::move(remedy)});
  }

  const std::vector<Diagnostic>& all() const { return all_; }
  size_t dropped() const { return dropped_; }
  size_t error_count() const { return errors_; }
  bool empty() const { return all_.empty(); }

 private:
  size_t cap_;
  size_t dropped_ = 0;
  size_t errors_ = 0;
  std::vector<Diagnostic> all_;
};

}  // namespace assay
