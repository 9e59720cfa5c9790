#include "exec/drive.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <new>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/sanitized.h"
#include "tensor/elements.h"

namespace assay::exec {
namespace {

tensor::Datum number(float value) {
  return tensor::make_tensor<float>(tensor::DType::float32, {1}, std::span<const float>(&value, 1));
}

// Gives back its input under the names that it is asked for.
class EchoRunner final : public Runner {
 public:
  EchoRunner(std::string name, std::string input, std::vector<std::string>& log)
      : name_(std::move(name)), log_(log), signature_{{{.name = std::move(input), .type = {}}}, {}} {}
  const std::string& name() const override { return name_; }
  bool is_live() const override { return true; }
  void open(Diagnostics&) override {
    log_.push_back("open " + name_);
    if (name_ == "broken") fail(ErrorCode::backend, "it cannot");
    if (name_ == "misused") fail(ErrorCode::usage, "wrong words");
  }
  void close() override { log_.push_back("close " + name_); }
  const Signature& signature() const override { return signature_; }
  TapAnswer answer(std::string_view value) const override {
    if (value == "fused") return {TapAnswer::Kind::absent, "conv+relu", "it is computed in registers"};
    if (value == "moved") return {TapAnswer::Kind::recomputed, "transpose", ""};
    return {};
  }
  std::optional<uint64_t> iterations() const override { return std::nullopt; }
  std::optional<double> run(uint64_t, std::span<const Feed> feeds, std::span<const std::string> values,
                            TensorSink& sink) override {
    if (name_ == "fails by memory") throw std::bad_alloc();
    for (const auto& [code, word] : kCodes) {
      if (name_ == std::string("fails by ") + word) fail(code, "for this reason");
    }
    for (const std::string& value : values) sink.accept(value, feeds[0].value);
    return 0.5;
  }

 private:
  static constexpr std::array kCodes = {
      std::pair(ErrorCode::shape, "shape"), std::pair(ErrorCode::parse, "parse"), std::pair(ErrorCode::io, "io"),
      std::pair(ErrorCode::unsupported, "unsupported"), std::pair(ErrorCode::limit, "limit")};
  std::string name_;
  std::vector<std::string>& log_;
  Signature signature_;
};

class Recorder final : public DriveWatcher {
 public:
  explicit Recorder(std::vector<std::string>& log) : log_(log) {}
  void on_value(size_t runner, uint64_t iteration, std::string_view name, const tensor::Datum&) override {
    log_.push_back(fmt::format("{}.{} {}", runner, iteration, name));
  }
  void on_answer(size_t runner, const std::string& value, const TapAnswer& answer) override {
    const bool is_absent = answer.kind == TapAnswer::Kind::absent;
    log_.push_back(fmt::format("{}: {} is {} in {}", runner, value, is_absent ? "absent" : "recomputed", answer.layer));
  }
  void on_iteration(size_t runner, uint64_t iteration, std::optional<double> seconds) override {
    log_.push_back(fmt::format("{}.{} took {}", runner, iteration, seconds.value_or(-1)));
  }
  void on_finished(size_t runner) override { log_.push_back(fmt::format("{} finished", runner)); }
  void on_failure(size_t runner, const Error& error) override {
    log_.push_back(fmt::format("{} failed: {}", runner, error.message()));
  }
  bool wants_stop() const override { return false; }

 private:
  std::vector<std::string>& log_;
};

class Drive : public testing::Test {
 protected:
  std::vector<std::string> run(std::vector<RunnerPtr> runners, const DrivePlan& plan, uint64_t iterations) {
    std::vector<tensor::NamedData> inputs(iterations, {{"x", number(1)}, {"z", number(7)}});
    const DataSourcePtr source = saved_source(std::move(inputs));
    Recorder recorder(log_);
    Diagnostics findings;
    drive(runners, source.get(), plan, recorder, findings);
    return log_;
  }
  RunnerPtr echo(std::string name, std::string input = "x") {
    return std::make_unique<EchoRunner>(std::move(name), std::move(input), log_);
  }
  static RunnerPtr saved(size_t iterations) {
    const SavedOutputs one{{{"y", number(1)}, {"other", number(2)}, {"z", number(3)}}, std::nullopt};
    return saved_runner("saved", std::vector<SavedOutputs>(iterations, one));
  }

  std::vector<std::string> log_;
};

using Lines = std::vector<std::string>;

TEST_F(Drive, sequential_runs_finish_one_after_the_other) {
  std::vector<RunnerPtr> runners;
  runners.push_back(echo("a"));
  runners.push_back(saved(2));
  const Lines expected = {"open a",    "0.0 y", "0.0 took 0.5", "0.1 y",     "0.1 took 0.5", "0 finished",
                          "close a",   "1.0 y", "1.0 other",    "1.0 z",     "1.0 took -1",  "1.1 y",
                          "1.1 other", "1.1 z", "1.1 took -1",  "1 finished"};
  EXPECT_EQ(run(std::move(runners), {.taps = {{"y"}}, .is_sequential = true}, 2), expected);
}

TEST_F(Drive, side_by_side_goes_group_by_group) {
  std::vector<RunnerPtr> runners;
  runners.push_back(echo("a"));
  runners.push_back(saved(1));
  const Lines expected = {"open a",     "0.0 y", "1.0 y",       "1.0 other",  "0.0 z",
                          "0.0 took 1", "1.0 z", "1.0 took -1", "0 finished", "1 finished"};
  EXPECT_EQ(run(std::move(runners), {.taps = {{"y"}, {"z"}}}, 1), expected);
}

TEST_F(Drive, runs_at_the_same_time_are_seen_in_order) {
  std::vector<RunnerPtr> runners;
  for (const char* name : {"a", "b", "c"}) runners.push_back(echo(name));
  const Lines expected = {"open a",       "open b", "open c",       "0.0 y",      "0.0 took 0.5", "1.0 y",
                          "1.0 took 0.5", "2.0 y",  "2.0 took 0.5", "0 finished", "1 finished",   "2 finished"};
  EXPECT_EQ(run(std::move(runners), {.taps = {{"y"}}, .jobs = 2}, 1), expected);
}

TEST_F(Drive, runners_get_the_inputs_of_their_own_signatures) {
  class Values final : public DriveWatcher {
   public:
    void on_value(size_t, uint64_t, std::string_view, const tensor::Datum& value) override {
      seen.push_back(tensor::load_elements<double>(value.tensor()).at(0));
    }
    void on_failure(size_t, const Error&) override {}
    bool wants_stop() const override { return false; }
    std::vector<double> seen;
  };
  std::vector<RunnerPtr> runners;
  runners.push_back(echo("a"));
  runners.push_back(echo("b", "z"));
  const DataSourcePtr source = saved_source({{{"x", number(1)}, {"z", number(7)}}});
  Values watcher;
  Diagnostics findings;
  drive(runners, source.get(), {.taps = {{"y"}}}, watcher, findings);
  EXPECT_EQ(watcher.seen, (std::vector<double>{1, 7}));
}

TEST_F(Drive, absent_values_are_not_requested) {
  std::vector<RunnerPtr> runners;
  runners.push_back(echo("a"));
  const Lines expected = {"open a",
                          "0: fused is absent in conv+relu",
                          "0: moved is recomputed in transpose",
                          "0.0 y",
                          "0.0 moved",
                          "0.0 took 0.5",
                          "0 finished"};
  EXPECT_EQ(run(std::move(runners), {.taps = {{"y", "fused", "moved"}}}, 1), expected);
}

TEST_F(Drive, a_backend_that_fails_ends_its_own_run_only) {
  std::vector<RunnerPtr> runners;
  runners.push_back(echo("broken"));
  runners.push_back(echo("b"));
  const Lines expected = {"open broken", "close broken", "0 failed: it cannot", "open b",
                          "1.0 y",       "1.0 took 0.5", "1 finished"};
  EXPECT_EQ(run(std::move(runners), {.taps = {{"y"}}}, 1), expected);
}

TEST_F(Drive, wrong_usage_ends_everything) {
  std::vector<RunnerPtr> runners;
  runners.push_back(echo("misused"));
  runners.push_back(echo("b"));
  EXPECT_THROW(run(std::move(runners), {.taps = {{"y"}}}, 1), Error);
}

TEST_F(Drive, inputs_that_do_not_fit_end_the_run_that_does_not_take_them) {
  std::vector<RunnerPtr> runners;
  runners.push_back(echo("a", "w"));
  runners.push_back(echo("b"));
  const Lines expected = {
      "open a", "open b",       "close a",   "0 failed: input `w` of the model is not given; given: `x`, `z`",
      "1.0 y",  "1.0 took 0.5", "1 finished"};
  EXPECT_EQ(run(std::move(runners), {.taps = {{"y"}}}, 1), expected);
}

TEST_F(Drive, every_reason_of_a_failure_ends_its_own_run_only) {
  for (const char* reason : {"shape", "parse", "io", "unsupported", "limit", "memory"}) {
    for (const uint64_t jobs : {1, 2}) {
      log_.clear();
      std::vector<RunnerPtr> runners;
      runners.push_back(echo(std::string("fails by ") + reason));
      runners.push_back(echo("b"));
      const Lines log = run(std::move(runners), {.taps = {{"y"}}, .jobs = jobs}, 1);
      EXPECT_EQ(std::ranges::count(log, "1.0 y"), 1) << reason;
      EXPECT_EQ(std::ranges::count_if(log, [](const std::string& line) { return line.starts_with("0 failed: "); }), 1)
          << reason;
    }
  }
}

TEST_F(Drive, errors_of_the_watcher_end_everything) {
  class Full final : public DriveWatcher {
   public:
    void on_value(size_t, uint64_t, std::string_view, const tensor::Datum&) override {
      fail(ErrorCode::limit, "no room for it");
    }
    void on_failure(size_t, const Error&) override { ADD_FAILURE() << "the runner has not failed"; }
    bool wants_stop() const override { return false; }
  };
  std::vector<RunnerPtr> runners;
  runners.push_back(echo("a"));
  const DataSourcePtr source = saved_source({{{"x", number(1)}}});
  Full watcher;
  Diagnostics findings;
  EXPECT_THROW(drive(runners, source.get(), {.taps = {{"y"}}}, watcher, findings), Error);
}

TEST(PlanTaps, groups_keep_the_order_and_the_budget) {
  const std::vector<Tap> taps = {{"a", 4}, {"b", 4}, {"c", 9}, {"d", 1}, {"e", 20}};
  EXPECT_EQ(plan_taps(taps, 10), (TapPlan{{"a", "b"}, {"c", "d"}, {"e"}}));
  EXPECT_EQ(plan_taps(taps, 0), (TapPlan{{"a", "b", "c", "d", "e"}}));
  EXPECT_EQ(plan_taps(taps, 1), (TapPlan{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}}));
}

// As under `ulimit -v`: there is no room for the stack of another thread.
TEST_F(Drive, goes_on_where_threads_are_refused) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer needs addresses itself";
  const pid_t child = fork();
  if (child == 0) {
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + (4U << 20);
    const rlimit limit = {bytes, bytes};
    std::vector<RunnerPtr> runners;
    for (const char* name : {"a", "b"}) runners.push_back(echo(name));
    const bool is_limited = setrlimit(RLIMIT_AS, &limit) == 0;
    try {
      run(std::move(runners), {.taps = {{"y"}}, .jobs = 2}, 1);
      _exit(is_limited ? 0 : 1);
    } catch (const std::exception&) {
      _exit(2);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace assay::exec
