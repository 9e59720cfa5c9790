#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

// Something that the user should know about a model or its inputs. `code` is a stable word for scripts, `node` the name
// of what it is about; empty: the model.
struct Finding {
  enum class Severity { info, warning, error };
  Severity severity = Severity::warning;
  std::string code;
  std::string node;
  std::string message;
  std::string remedy = {};  // the setting that lifts it, as `input_shapes`; empty: none does
};

// Progress of one kind of work.
struct Progress {
  std::string_view what;
  uint64_t done = 0;
  uint64_t total = 0;  // 0: not known
  double seconds = 0;
};

// Sees what a call does while it works; every member may be left as it is. Calls come from the calling thread.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_message(std::string_view /*text*/) {}
  virtual void on_finding(const Finding&) {}
  virtual void on_progress(const Progress&) {}
  // Asked between pieces of work: true ends the call with an Error (cancelled), and nothing is left half-written.
  virtual bool is_cancelled() { return false; }
};

}  // namespace assay
