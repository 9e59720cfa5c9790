#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/ranks/meeting.h"
#include "base/error.h"
#include "convert.h"
#include "exec/backend.h"

namespace assay::python {

// A backend with a model or a plan, and the model for as long as it is used.
struct Session {
  std::optional<Model> model;
  std::unique_ptr<exec::Session> session;

  const exec::Signature& signature() const { return session->signature(); }
  std::vector<std::string> output_names() const {
    std::vector<std::string> names;
    for (const exec::Port& port : signature().outputs) names.push_back(port.name);
    return names;
  }
};

using SessionPtr = std::shared_ptr<Session>;

// An execution, and what its runs need. A run that was interrupted goes on with it to its end.
struct Context {
  SessionPtr session;
  std::unique_ptr<exec::Execution> execution;
  std::atomic<bool> is_busy = false;
  std::shared_ptr<backends::Meeting> meeting = nullptr;  // of the ranks that run parts of its model
  int64_t rank = 0;

  // Runs as the rank, and tells the others when that fails.
  template <typename Run>
  void run_as_rank(Run&& run) const {
    if (meeting == nullptr) return run();
    const ops::RanksScope scope(meeting->rank(rank));
    try {
      run();
    } catch (const Error& error) {
      if (!meeting->failure()) meeting->fail_by(rank, error);
      throw Error(*meeting->failure());
    }
  }
};

// Two threads at once are an error, not a crash.
class Use {
 public:
  explicit Use(std::shared_ptr<Context> context) : context_(std::move(context)) {
    if (context_->is_busy.exchange(true)) fail(ErrorCode::usage, "another thread is using this runner");
  }
  ~Use() { context_->is_busy = false; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  std::shared_ptr<Context> context_;
};

}  // namespace assay::python
