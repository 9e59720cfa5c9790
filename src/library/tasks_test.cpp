#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "assay/assay.h"
#include "base/temporary_folder.h"
#include "support/sanitized.h"

// What holds for every task: it takes a model that was never in a file, runs beside others, and can be ended at any
// point.
namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr const char* kText = R"(
<ir_version: 8, opset_import: ["" : 17]>
net (float[2, 4] x) => (float[2, 2] y)
<float[4, 4] a = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, float[4, 2] b = {1, -2, 3, -4, 5, -6, 7, -8},
 float[4] c = {1, 2, 3, 4}, float[4] d = {1, 1, 1, 1}>
{
  [first] h = MatMul(x, a)
  [bias] e = Add(c, d)
  [sum] s = Add(h, e)
  [same] i = Identity(s)
  [activation] r = Relu(i)
  [second] y = MatMul(r, b)
})";

constexpr const char* kAttention = R"(
<ir_version: 8, opset_import: ["" : 17]>
attention (float[2, seq_len, 4] q, float[2, 4, seq_len] k, float[2, seq_len, 4] v) => (float[2, seq_len, 4] o)
{ s = MatMul(q, k) p = Softmax <axis = -1> (s) o = MatMul(p, v) })";

Values inputs() { return {{"x", Tensor({2, 4}, std::vector<float>{1, 0, 0, 0, 0, 0, 0, -1})}}; }

std::string op_types(const Model& model) {
  std::string names;
  for (const NodeInfo& node : model.nodes()) names += (names.empty() ? "" : " ") + node.op;
  return names;
}

std::string numbers(const Tensor& tensor) {
  if (std::string_view(tensor.type()) != "float32") return tensor.type();
  std::string text;
  for (const float number : tensor.elements<float>()) text += std::to_string(number) + " ";
  return text;
}

std::string ran(const RunReport& report) {
  std::string text = report.verdict == Verdict::equal ? "equal:" : "not equal:";
  for (const Run& run : report.runs) text += run.failure + numbers(run.outputs.at(0).at(0).second);
  return text;
}

// A task with a model from memory; what it gives, as text.
struct Task {
  const char* name;
  std::function<std::string(Observer*)> work;
};

// `folder` has saved data and a plugin.
std::vector<Task> all_tasks(const fs::path& folder) {
  const auto in = [folder](const char* name) { return (folder / name).string(); };
  const Model net = Model::from_text(kText);
  const Model attention = Model::from_text(kAttention);
  const PluginOptions plugins = {.folder = in("plugins")};
  return {
      {"save", [=](Observer* o) { return net.save(in("out.onnx"), {}, o), std::string(); }},
      {"save beside",
       [=](Observer* o) {
         return net.save(in("two.onnx"), {.external_file = "two.data", .external_threshold = 0}, o), std::string();
       }},
      {"save data",
       [=](Observer* o) {
         return save_data({.is_inputs = true, .runs = {{"", {inputs()}}}}, in("out.npz"), o), std::string();
       }},
      {"convert data", [=](Observer* o) { return convert_data(in("in.npz"), in("out.json"), {}, o), std::string(); }},
      {"load", [=](Observer* o) { return op_types(Model::load(in("in.onnx"), {}, o)); }},
      {"run",
       [=](Observer* o) {
         return ran(net.run({.backends = {"ref", "engine"}, .inputs = {inputs(), inputs()}}, o));
       }},
      {"run with computed tolerances",
       [=](Observer* o) {
         return ran(
             net.run({.backends = {"ref", "ref-fp64"}, .inputs = {inputs()}, .tolerance = {.is_computed = true}}, o));
       }},
      {"lint", [=](Observer* o) { return std::to_string(net.lint(false, o).size()); }},
      {"check compatibility",
       [=](Observer* o) {
         return std::to_string(net.check_compatibility({"ref", "engine"}, o).at(1).accepts);
       }},
      {"infer shapes", [=](Observer* o) { return net.infer_shapes(o).text(); }},
      {"sanitize",
       [=](Observer* o) {
         return net.sanitize({.clean = true, .sort = true, .fold_constants = true, .simplify = true}, o).text();
       }},
      {"extract", [=](Observer* o) { return net.extract({.inputs = {"h"}, .outputs = {"r"}}, o).text(); }},
      {"insert",
       [=](Observer* o) {
         return net.insert({.op = "Neg", .name = "n", .inputs = {"s"}, .outputs = {"s"}}, o).text();
       }},
      {"to half", [=](Observer* o) { return net.to_half({.measure = true, .inputs = {inputs()}}, o).text(); }},
      {"quantize",
       [=](Observer* o) {
         return net.quantize({.inputs = {inputs()}, .least_snr_db = 1, .backend = "ref"}, o).text();
       }},
      {"compress weights", [=](Observer* o) { return net.compress_weights({.bits = 8}, o).text(); }},
      {"shard",
       [=](Observer* o) {
         return op_types(attention.shard({.devices = 2, .groups = {0, 1}}, o));
       }},
      {"split weights",
       [=](Observer* o) { return op_types(net.sanitize({.simplify = true}).split_weights(2, o).at(1)); }},
      {"match plugins",
       [=](Observer* o) { return std::to_string(net.match_plugins(plugins, o).at(0).instances.size()); }},
      {"replace plugins", [=](Observer* o) { return op_types(net.replace_plugins(net.match_plugins(plugins), o)); }},
  };
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

class LibraryTasks : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_.path() / "plugins/renamed");
    std::ofstream(folder_.path() / "plugins/renamed/pattern.yaml")
        << "op: Renamed\ndomain: own\ninputs: [x]\noutputs: [y]\nnodes: [{op: Relu, inputs: [x], outputs: [y]}]\n";
    save_data({.is_inputs = true, .runs = {{"", {inputs()}}}}, (folder_.path() / "in.npz").string());
    Model::from_text(kText).save((folder_.path() / "in.onnx").string());
    tasks_ = all_tasks(folder_.path());
  }

  TemporaryFolder folder_;
  std::vector<Task> tasks_;
};

// Says that the call is to end when it is asked for the nth time.
class EndingObserver final : public Observer {
 public:
  explicit EndingObserver(int asked) : left_(asked) {}
  bool is_cancelled() override { return left_ > 0 && --left_ == 0; }
  bool was_asked() const { return left_ == 0; }

 private:
  int left_;
};

constexpr int kMostQuestions = 2000;

// How often a task asked before it came to its end; each time that it was told to end, it left nothing.
int count_questions(const Task& task, const fs::path& folder) {
  const std::vector<std::string> before = names_in(folder);
  for (int asked = 1; asked < kMostQuestions; ++asked) {
    EndingObserver observer(asked);
    try {
      static_cast<void>(task.work(&observer));
      EXPECT_FALSE(observer.was_asked()) << task.name << " went on after question " << asked;
      return asked - 1;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::cancelled) << task.name << ": " << error.line();
      EXPECT_EQ(names_in(folder), before) << task.name << ", question " << asked;
    }
  }
  return kMostQuestions;
}

TEST_F(LibraryTasks, EachCanBeEndedWheneverItAsksAndLeavesNothing) {
  for (const Task& task : tasks_) {
    const int questions = count_questions(task, folder_.path());
    EXPECT_LT(questions, kMostQuestions) << task.name;
    EXPECT_GE(questions, 1) << task.name << " never asks";
  }
}

TEST_F(LibraryTasks, TwoAtOnceGiveWhatEachGivesAlone) {
  std::vector<std::string> alone;
  for (const Task& task : tasks_) alone.push_back(task.work(nullptr));
  std::vector<std::string> forwards(tasks_.size());
  std::vector<std::string> backwards(tasks_.size());
  std::thread other([&] {
    for (size_t i = tasks_.size(); i-- > 0;) backwards[i] = tasks_[i].work(nullptr);
  });
  for (size_t i = 0; i < tasks_.size(); ++i) forwards[i] = tasks_[i].work(nullptr);
  other.join();
  EXPECT_EQ(forwards, alone);
  EXPECT_EQ(backwards, alone);
}

std::vector<void (*)(int)> signal_handlers() {
  std::vector<void (*)(int)> handlers;
  for (int signal = 1; signal < SIGSYS; ++signal) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    handlers.push_back(action.sa_handler);
  }
  return handlers;
}

TEST_F(LibraryTasks, EachPrintsNothingAndLeavesSignalsAlone) {
  const std::vector<void (*)(int)> before = signal_handlers();
  for (const Task& task : tasks_) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    static_cast<void>(task.work(nullptr));
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "") << task.name;
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << task.name;
    EXPECT_EQ(signal_handlers(), before) << task.name;
  }
}

// Its one large value takes 400 MB, which no operator is told beforehand.
Model large() {
  return Model::from_text(R"(
<ir_version: 8, opset_import: ["" : 17]> net (float[1] x, int64[1] n) => (float[N] y) { e = Expand(x, n) y = Neg(e) })");
}

std::vector<Values> large_inputs() {
  return {{{"x", Tensor({1}, std::vector<float>{1})}, {"n", Tensor({1}, std::vector<int64_t>{100'000'000})}}};
}

TEST(LibraryMemory, ARunThatNeedsMoreThanItMayFailsAloneAndSaysWhatHelps) {
  const RunReport report =
      large().run({.backends = {"ref", "engine"}, .inputs = large_inputs(), .max_memory_bytes = 1 << 20});
  ASSERT_EQ(report.runs.size(), 2U);
  for (const assay::Run& run : report.runs) {
    EXPECT_NE(run.failure.find("memory"), std::string::npos) << run.name << ": " << run.failure;
    EXPECT_EQ(run.remedy, "max_memory") << run.name;
  }
  EXPECT_NE(report.verdict, Verdict::equal);
}

// In a process of its own: with as little memory as the system gives it, each task ends with an Error or says what
// failed, and works again when there is memory.
void use_little_memory() {
  const Model model = large();
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit little = {300'000'000, before.rlim_max};
  int failed = 0;
  setrlimit(RLIMIT_AS, &little);
  for (const char* backend : {"ref", "ref-fp64", "engine"}) {
    try {
      const RunReport report = model.run({.backends = {backend}, .inputs = large_inputs()});
      failed += report.runs.at(0).failure.find("memory") != std::string::npos ? 1 : 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", backend, error.what());
    }
  }
  try {
    static_cast<void>(model.to_half({.measure = true, .inputs = large_inputs()}));
  } catch (const Error& error) {
    failed += error.code() == ErrorCode::limit ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "to_half: %s\n", error.what());
  }
  setrlimit(RLIMIT_AS, &before);
  const RunReport report = Model::from_text(kText).run({.backends = {"engine"}, .inputs = {inputs()}});
  std::fprintf(stderr, "%d failed, then %s\n", failed, report.verdict == Verdict::equal ? "right" : "wrong");
  std::_Exit(failed == 4 && report.verdict == Verdict::equal ? 0 : 1);
}

TEST(LibraryThreads, MoreThreadsThanAMachineHasAreAnError) {
  const Model model =
      Model::from_text("<ir_version: 8, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y) { y = Neg(x) }");
  RunOptions options;
  options.backends = {"ref"};
  options.threads = 4000000000;
  try {
    model.run(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(error.line().find("threads"), std::string::npos);
  }
}

TEST(LibraryMemory, WhatTheSystemRefusesIsAnErrorToo) {
  if (kIsSanitized) GTEST_SKIP() << "limits of addresses mean nothing";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(use_little_memory(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace assay
