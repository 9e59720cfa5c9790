#include "exec/runner.h"

#include <functional>
#include <set>
#include <variant>

#include "base/check.h"
#include "base/error.h"

namespace assay::exec {
namespace {

// The source of a session.
using Source = std::variant<const ir::Model*, std::filesystem::path>;

class BackendRunner final : public Runner {
 public:
  BackendRunner(std::string name, BackendPtr backend, Source source, SessionOptions options)
      : name_(std::move(name)),
        backend_(std::move(backend)),
        source_(std::move(source)),
        options_(std::move(options)) {}

  const std::string& name() const override { return name_; }
  bool is_live() const override { return true; }
  void open(Diagnostics& findings) override {
    with_frame([&] { return name_; },
               [&] {
                 session_ = prepare(findings);
                 execution_ = session_->make_execution({});
               });
  }
  void close() override {
    execution_.reset();
    session_.reset();
  }
  const Signature& signature() const override {
    ASSAY_CHECK(session_ != nullptr);
    return session_->signature();
  }
  TapAnswer answer(std::string_view value) const override {
    if (absent_.contains(value)) return {TapAnswer::Kind::absent, "", "the conversion has removed it"};
    return session_->answer(value);
  }
  void set_absent(std::set<std::string, std::less<>> values) { absent_ = std::move(values); }
  std::string description() const override { return session_ ? session_->description() : ""; }
  std::vector<AssignedNode> assignment() const override {
    return session_ ? session_->assignment() : std::vector<AssignedNode>();
  }
  std::optional<uint64_t> iterations() const override { return std::nullopt; }

  std::optional<double> run(uint64_t, std::span<const Feed> feeds, std::span<const std::string> values,
                            TensorSink& sink) override {
    ASSAY_CHECK(execution_ != nullptr);
    with_frame([&] { return name_; }, [&] { execution_->run(feeds, values, sink); });
    return execution_->seconds();
  }

 private:
  std::unique_ptr<Session> prepare(Diagnostics& findings) const {
    if (const ir::Model* const* model = std::get_if<const ir::Model*>(&source_)) {
      return backend_->prepare(**model, options_, findings);
    }
    return backend_->open_plan(std::get<std::filesystem::path>(source_), options_, findings);
  }

  std::string name_;
  BackendPtr backend_;
  Source source_;
  SessionOptions options_;
  std::set<std::string, std::less<>> absent_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Execution> execution_;
};

// Becomes another runner when it is opened.
class LateRunner final : public Runner {
 public:
  LateRunner(std::string name, std::function<RunnerPtr()> make) : name_(std::move(name)), make_(std::move(make)) {}

  const std::string& name() const override { return name_; }
  bool is_live() const override { return true; }
  void open(Diagnostics& findings) override {
    with_frame([&] { return name_; }, [&] { runner_ = make_(); });
    runner_->open(findings);
  }
  void close() override { runner_.reset(); }
  const Signature& signature() const override { return opened().signature(); }
  TapAnswer answer(std::string_view value) const override { return opened().answer(value); }
  std::string description() const override { return opened().description(); }
  std::vector<AssignedNode> assignment() const override { return opened().assignment(); }
  std::optional<uint64_t> iterations() const override { return std::nullopt; }
  std::optional<double> run(uint64_t iteration, std::span<const Feed> feeds, std::span<const std::string> values,
                            TensorSink& sink) override {
    return opened().run(iteration, feeds, values, sink);
  }

 private:
  Runner& opened() const {
    ASSAY_CHECK(runner_ != nullptr);
    return *runner_;
  }

  std::string name_;
  std::function<RunnerPtr()> make_;
  RunnerPtr runner_;
};

class SavedRunner final : public Runner {
 public:
  SavedRunner(std::string name, std::vector<SavedOutputs> iterations)
      : name_(std::move(name)), iterations_(std::move(iterations)) {}

  const std::string& name() const override { return name_; }
  bool is_live() const override { return false; }
  void open(Diagnostics&) override {}
  void close() override {}
  const Signature& signature() const override { return signature_; }
  std::optional<uint64_t> iterations() const override { return iterations_.size(); }

  std::optional<double> run(uint64_t iteration, std::span<const Feed>, std::span<const std::string>,
                            TensorSink& sink) override {
    const SavedOutputs& saved = iterations_.at(iteration);
    for (const tensor::NamedDatum& output : saved.outputs) sink.accept(output.name, output.value);
    return saved.runtime_seconds;
  }

 private:
  std::string name_;
  Signature signature_;  // of no inputs
  std::vector<SavedOutputs> iterations_;
};

}  // namespace

RunnerPtr backend_runner(std::string name, BackendPtr backend, const ir::Model& model, SessionOptions options) {
  return std::make_unique<BackendRunner>(std::move(name), std::move(backend), &model, std::move(options));
}

RunnerPtr converted_runner(std::string name, BackendPtr backend, const ir::Model& model, SessionOptions options) {
  std::set<std::string, std::less<>> absent(options.values.begin(), options.values.end());
  for (uint32_t i = 0; i < model.value_slots() && !absent.empty(); ++i) {
    const ir::Value& value = model[ir::ValueId{i}];
    if (value.alive && value.graph == model.main_graph()) absent.erase(std::string(model.text(value.name)));
  }
  std::erase_if(options.values, [&](const std::string& value) { return absent.contains(value); });
  auto runner = std::make_unique<BackendRunner>(std::move(name), std::move(backend), &model, std::move(options));
  runner->set_absent(std::move(absent));
  return runner;
}

RunnerPtr plan_runner(std::string name, BackendPtr backend, std::filesystem::path plan, SessionOptions options) {
  return std::make_unique<BackendRunner>(std::move(name), std::move(backend), std::move(plan), std::move(options));
}

RunnerPtr late_runner(std::string name, std::function<RunnerPtr()> make) {
  return std::make_unique<LateRunner>(std::move(name), std::move(make));
}

RunnerPtr saved_runner(std::string name, std::vector<SavedOutputs> iterations) {
  return std::make_unique<SavedRunner>(std::move(name), std::move(iterations));
}

}  // namespace assay::exec
