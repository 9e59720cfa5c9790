#include "exec/runner.h"

#include <chrono>

#include "base/check.h"
#include "base/error.h"

namespace assay::exec {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Hands values on and adds up how long that takes.
class TimedSink final : public TensorSink {
 public:
  explicit TimedSink(TensorSink& sink) : sink_(sink) {}
  void accept(std::string_view name, const tensor::Datum& value) override {
    const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    sink_.accept(name, value);
    seconds_ += seconds_since(begin);
  }
  double seconds() const { return seconds_; }

 private:
  TensorSink& sink_;
  double seconds_ = 0;
};

class BackendRunner final : public Runner {
 public:
  BackendRunner(std::string name, BackendPtr backend, const ir::Model& model, SessionOptions options)
      : name_(std::move(name)), backend_(std::move(backend)), model_(model), options_(std::move(options)) {}

  const std::string& name() const override { return name_; }
  bool is_live() const override { return true; }
  void open(Diagnostics& findings) override {
    session_ = with_frame([&] { return name_; }, [&] { return backend_->prepare(model_, options_, findings); });
  }
  void close() override { session_.reset(); }
  std::string description() const override { return session_ ? session_->description() : ""; }
  std::optional<uint64_t> iterations() const override { return std::nullopt; }

  std::optional<double> run(uint64_t, std::span<const Feed> feeds, std::span<const std::string> values,
                            TensorSink& sink) override {
    ASSAY_CHECK(session_ != nullptr);
    const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    TimedSink timed(sink);
    with_frame([&] { return name_; }, [&] { session_->run(feeds, values, timed); });
    return seconds_since(begin) - timed.seconds();
  }

 private:
  std::string name_;
  BackendPtr backend_;
  const ir::Model& model_;
  SessionOptions options_;
  std::unique_ptr<Session> session_;
};

class SavedRunner final : public Runner {
 public:
  SavedRunner(std::string name, std::vector<SavedOutputs> iterations)
      : name_(std::move(name)), iterations_(std::move(iterations)) {}

  const std::string& name() const override { return name_; }
  bool is_live() const override { return false; }
  void open(Diagnostics&) override {}
  void close() override {}
  std::optional<uint64_t> iterations() const override { return iterations_.size(); }

  std::optional<double> run(uint64_t iteration, std::span<const Feed>, std::span<const std::string>,
                            TensorSink& sink) override {
    const SavedOutputs& saved = iterations_.at(iteration);
    for (const tensor::NamedDatum& output : saved.outputs) sink.accept(output.name, output.value);
    return saved.runtime_seconds;
  }

 private:
  std::string name_;
  std::vector<SavedOutputs> iterations_;
};

}  // namespace

RunnerPtr backend_runner(std::string name, BackendPtr backend, const ir::Model& model, SessionOptions options) {
  return std::make_unique<BackendRunner>(std::move(name), std::move(backend), model, std::move(options));
}

RunnerPtr saved_runner(std::string name, std::vector<SavedOutputs> iterations) {
  return std::make_unique<SavedRunner>(std::move(name), std::move(iterations));
}

}  // namespace assay::exec
