#include "tasks/convert/counted_runner.h"

namespace assay::tasks {
namespace {

class CountingSink final : public exec::TensorSink {
 public:
  CountingSink(exec::TensorSink& sink, Counter& progress) : sink_(sink), progress_(progress) {}
  void accept(std::string_view name, const tensor::Datum& value) override {
    sink_.accept(name, value);
    progress_.advance();
  }

 private:
  exec::TensorSink& sink_;
  Counter& progress_;
};

class CountedRunner final : public exec::Runner {
 public:
  CountedRunner(exec::RunnerPtr runner, Counter& progress) : runner_(std::move(runner)), progress_(progress) {}

  const std::string& name() const override { return runner_->name(); }
  bool is_live() const override { return runner_->is_live(); }
  void open(Diagnostics& findings) override { runner_->open(findings); }
  void close() override { runner_->close(); }
  const exec::Signature& signature() const override { return runner_->signature(); }
  exec::TapAnswer answer(std::string_view value) const override { return runner_->answer(value); }
  std::string description() const override { return runner_->description(); }
  std::optional<uint64_t> iterations() const override { return runner_->iterations(); }

  std::optional<double> run(uint64_t iteration, std::span<const exec::Feed> feeds, std::span<const std::string> values,
                            exec::TensorSink& sink) override {
    CountingSink counting(sink, progress_);
    const std::optional<double> seconds = runner_->run(iteration, feeds, values, counting);
    if (values.empty()) progress_.advance();  // inputs alone are one step
    return seconds;
  }

 private:
  exec::RunnerPtr runner_;
  Counter& progress_;
};

}  // namespace

exec::RunnerPtr counted_runner(exec::RunnerPtr runner, Counter& progress) {
  return std::make_unique<CountedRunner>(std::move(runner), progress);
}

}  // namespace assay::tasks
