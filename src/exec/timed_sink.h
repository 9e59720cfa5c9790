#pragma once

#include "base/stopwatch.h"
#include "exec/session.h"

namespace assay::exec {

// Hands values on and adds up how long that takes.
class TimedSink final : public TensorSink {
 public:
  explicit TimedSink(TensorSink& sink) : sink_(sink) {}
  void accept(std::string_view name, const tensor::Datum& value) override {
    const Stopwatch watch;
    sink_.accept(name, value);
    seconds_ += watch.seconds();
  }
  double seconds() const { return seconds_; }

 private:
  TensorSink& sink_;
  double seconds_ = 0;
};

}  // namespace assay::exec
