#include "base/stop.h"

#include <utility>

#include "base/error.h"

namespace assay {
namespace {

std::stop_token& current() {
  thread_local std::stop_token token;
  return token;
}

}  // namespace

StopScope::StopScope(std::stop_token token) : outer_(std::exchange(current(), std::move(token))) {}

StopScope::~StopScope() { current() = std::move(outer_); }

const std::stop_token& stop_token() { return current(); }

void check_stopped() {
  if (current().stop_requested()) fail(ErrorCode::cancelled, "the run was stopped");
}

}  // namespace assay
