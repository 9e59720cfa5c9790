#pragma once

#include <stop_token>

namespace assay {

// While it lives, work of its thread ends early where the token says so.
class StopScope {
 public:
  explicit StopScope(std::stop_token token);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  std::stop_token outer_;
};

// That of the calling thread's scope; outside of one, nothing can stop it.
const std::stop_token& stop_token();
// Error (cancelled) if the calling thread's work is to end. Cheap: asked before each layer.
void check_stopped();

}  // namespace assay
