#include "remote/isolated_backend.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"
#include "onnx/export.h"
#include "support/parsed_model.h"
#include "support/remote_values.h"
#include "support/sanitized.h"

namespace assay::remote {
namespace {

namespace fs = std::filesystem;
using testing_support::parsed;
using testing_support::same;

constexpr std::string_view kSmall =
    "g (float[N] x, string[M] s) => (float[N] y, seq(float[N]) q, string[M] t) {"
    " c = Constant<value = float[2] {0.1, 0.7}>() h = Tanh(x) y = Mul(h, c) q = SequenceConstruct(x, y)"
    " t = Identity(s) }";

// Counts to a number that takes hours.
constexpr std::string_view kEndless =
    "g (int64 n, bool c) => (int64 r) { r = Loop<body = b (int64 i, bool k, int64 a) => (bool k2, int64 a2) {"
    " k2 = Identity(k) a2 = Add(a, i) }>(n, c, n) }";

class Collector final : public exec::TensorSink {
 public:
  void accept(std::string_view name, const tensor::Datum& value) override {
    values.insert_or_assign(std::string(name), value);
  }
  std::map<std::string, tensor::Datum> values;
};

class Throwing final : public exec::TensorSink {
 public:
  void accept(std::string_view, const tensor::Datum&) override { fail(ErrorCode::io, "the disk is full"); }
};

// A program that stands in for the worker.
class Script {
 public:
  explicit Script(const std::string& lines) {
    char name[] = "/tmp/assay_workerXXXXXX";
    folder_ = mkdtemp(name);
    std::ofstream(program()) << "#!/bin/sh\n" << lines << "\n";
    fs::permissions(program(), fs::perms::owner_all);
  }
  ~Script() { fs::remove_all(folder_); }
  fs::path program() const { return folder_ / "worker"; }

 private:
  fs::path folder_;
};

TEST(WorkerProgram, LiesBesideItsLibraryAndIsNeverTheProgramThatRuns) {
  char name[] = "/tmp/assay_workerXXXXXX";
  const fs::path root = mkdtemp(name);
  const auto put = [&](const fs::path& file) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << "#!/bin/sh\n";
  };
  const fs::path in_lib = root / "lib/libassay.so.0";
  EXPECT_THROW(worker_program_of(in_lib), Error);
  EXPECT_THROW(worker_program_of({}), Error);
  put("bin/assay");
  EXPECT_EQ(worker_program_of(in_lib), root / "bin/assay");
  EXPECT_EQ(worker_program_of(root / "lib/x86_64-linux-gnu/libassay.so.0"), root / "bin/assay");
  EXPECT_EQ(worker_program_of(root / "bin/assay"), root / "bin/assay");
  put("site-packages/assay/assay");
  EXPECT_EQ(worker_program_of(root / "site-packages/assay/libassay.so"), root / "site-packages/assay/assay");
  fs::remove_all(root);
}

exec::BackendPtr isolated(double timeout_seconds = 0, std::string backend = "ref", fs::path program = ASSAY_PROGRAM) {
  return isolated_backend({std::move(backend), timeout_seconds, std::move(program)});
}

std::vector<exec::Feed> small_feeds() {
  const std::vector<float> numbers = {0.3F, -5};
  return {{"x", tensor::make_tensor<float>(tensor::DType::float32, {2}, numbers)},
          {"s", testing_support::strings({2}, {"one", "two"})}};
}

std::vector<exec::Feed> endless_feeds() {
  const int64_t count = int64_t{1} << 50;
  const bool yes = true;
  return {{"n", tensor::make_tensor<int64_t>(tensor::DType::int64, {}, std::span(&count, 1))},
          {"c", tensor::make_tensor<bool>(tensor::DType::boolean, {}, std::span(&yes, 1))}};
}

std::map<std::string, tensor::Datum> run(const exec::Backend& backend, const ir::Model& model,
                                         const exec::SessionOptions& options) {
  Diagnostics findings;
  Collector collector;
  const std::vector<std::string> names = {"y", "q", "t", "h"};
  const std::unique_ptr<exec::Session> session = backend.prepare(model, options, findings);
  session->make_execution({})->run(small_feeds(), names, collector);
  return collector.values;
}

std::string error_of(ErrorCode code, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.line();
    return error.line();
  }
  return "no error";
}

void run_endless(const exec::Backend& backend) {
  const ir::Model model = parsed(std::string(kEndless));
  Diagnostics findings;
  Collector sink;
  const std::vector<std::string> names = {"r"};
  const std::unique_ptr<exec::Session> session = backend.prepare(model, {}, findings);
  session->make_execution({})->run(endless_feeds(), names, sink);
}

// Ids of our child processes.
std::vector<pid_t> children() {
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/children");
  std::vector<pid_t> ids;
  for (pid_t id = 0; file >> id;) ids.push_back(id);
  return ids;
}

TEST(IsolatedBackend, GivesTheSameBits) {
  const ir::Model model = parsed(std::string(kSmall));
  exec::SessionOptions options = {.values = {"h"}};
  const std::map<std::string, tensor::Datum> expected = run(*exec::make_backend("ref"), model, options);
  ASSERT_EQ(expected.size(), 4u);
  const auto check = [&] {
    const std::map<std::string, tensor::Datum> values = run(*isolated(), model, options);
    ASSERT_EQ(values.size(), expected.size());
    for (const auto& [name, value] : expected) EXPECT_TRUE(same(values.at(name), value)) << name;
  };
  check();
  const Script folder("");
  options.path = folder.program().string() + ".onnx";
  onnx::save(model, options.path);
  check();
  EXPECT_TRUE(children().empty());
}

TEST(IsolatedBackend, RunsAgainAndKeepsItsValues) {
  const ir::Model model = parsed(std::string(kSmall));
  Diagnostics findings;
  Collector first;
  Collector second;
  const std::vector<std::string> names = {"t"};
  {
    const std::unique_ptr<exec::Session> session = isolated()->prepare(model, {}, findings);
    const std::unique_ptr<exec::Execution> execution = session->make_execution({});
    execution->run(small_feeds(), names, first);
    execution->run(small_feeds(), names, second);
  }
  EXPECT_TRUE(same(first.values.at("t"), small_feeds()[1].value));
  EXPECT_TRUE(same(second.values.at("t"), small_feeds()[1].value));
}

TEST(IsolatedBackend, TellsWhatItsSessionTells) {
  const ir::Model model = parsed(
      "g (float[N,3] x, int64[2] s, optional(float[2]) o) => (float[M] y) <float[3] w = {1, 2, 3}> "
      "{ r = Reshape(x, s) y = Add(r, w) }");
  Diagnostics findings;
  const std::unique_ptr<exec::Session> session = isolated()->prepare(model, {}, findings);
  const std::vector<exec::Port>& inputs = session->signature().inputs;
  const exec::Signature expected = exec::signature_of(model);
  ASSERT_EQ(inputs.size(), expected.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(inputs[i].name, expected.inputs[i].name);
    EXPECT_EQ(inputs[i].is_shape, expected.inputs[i].is_shape);
    EXPECT_EQ(inputs[i].has_default, expected.inputs[i].has_default);
    EXPECT_EQ(inputs[i].type->kind, expected.inputs[i].type->kind);
  }
  EXPECT_EQ(inputs[0].type->dims[0].text, "N");
  EXPECT_EQ(inputs[0].type->dims[1].size, 3);
  EXPECT_EQ(inputs[2].type->element.at(0).dtype, tensor::DType::float32);
  EXPECT_EQ(session->signature().outputs.at(0).name, "y");
}

TEST(IsolatedBackend, HasNoPlansWhereItsBackendHasNone) {
  Diagnostics findings;
  EXPECT_EQ(error_of(ErrorCode::unsupported, [&] { isolated()->open_plan("/nowhere.plan", {}, findings); }),
            "`/nowhere.plan`: the backend ref has no saved plans");
}

TEST(IsolatedBackend, ErrorsStayWhatTheyAre) {
  const ir::Model model = parsed(
      "g (float[N] x, string[2] s) => (float[M] y) { c = Constant<value = float[3] {1, 2, 3}>() y = Add(x, c) }");
  Diagnostics findings;
  const auto message = [&](const exec::Backend& backend) {
    Collector sink;
    const std::vector<std::string> names = {"y"};
    const std::unique_ptr<exec::Session> session = backend.prepare(model, {}, findings);
    const std::unique_ptr<exec::Execution> execution = session->make_execution({});
    std::string line;
    for (int i = 0; i < 2; ++i) {  // the worker goes on
      line += error_of(ErrorCode::shape, [&] { execution->run(small_feeds(), names, sink); });
    }
    return line;
  };
  const std::string here = message(*exec::make_backend("ref"));
  EXPECT_NE(here.find("Add"), std::string::npos) << here;
  EXPECT_EQ(message(*isolated()), here);
  EXPECT_NE(error_of(ErrorCode::usage, [&] { isolated(0, "nobody")->prepare(model, {}, findings); })
                .find("unknown backend `nobody`"),
            std::string::npos);
  const ir::Model unknown = parsed("g (float[N] x) => (float[N] y) { y = Nothing(x) }");
  EXPECT_EQ(isolated()->refusals(unknown, {}).size(), 1u);
}

TEST(IsolatedBackend, ProbesInTheWorker) {
  const exec::Probe probe = isolated()->probe({});
  EXPECT_TRUE(probe.usable);
  EXPECT_EQ(probe.version, exec::make_backend("ref")->probe({}).version);
  const Script broken("kill -SEGV $$");
  const exec::Probe died = isolated(0, "ref", broken.program())->probe({});
  EXPECT_FALSE(died.usable);
  EXPECT_EQ(died.version, "the process of ref was killed by signal 11 (segmentation fault)");
}

TEST(IsolatedBackend, DeathIsAnErrorOfTheBackend) {
  std::thread killer([] {
    while (children().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    kill(children()[0], SIGKILL);
  });
  EXPECT_EQ(error_of(ErrorCode::backend, [] { run_endless(*isolated()); }),
            "the process of ref was killed by signal 9 (killed)");
  killer.join();
}

TEST(IsolatedBackend, HangIsALimit) {
  const std::string expected = "the process of ref gave no answer within 0.2 seconds and was ended";
  EXPECT_EQ(error_of(ErrorCode::limit, [] { run_endless(*isolated(0.2)); }), expected);
  const Script hanging("exec sleep 1000");
  EXPECT_EQ(error_of(ErrorCode::limit, [&] { run_endless(*isolated(0.2, "ref", hanging.program())); }), expected);
  EXPECT_TRUE(children().empty());
}

TEST(IsolatedBackend, ProgramsThatAreNotThereAreErrors) {
  if (kHasThreadSanitizer) GTEST_SKIP() << "the sanitizer makes fork of vfork";
  EXPECT_EQ(error_of(ErrorCode::backend, [] { run_endless(*isolated(0, "ref", "/nowhere")); }),
            "cannot start `/nowhere`: no such file or directory");
}

TEST(IsolatedBackend, OtherProgramsAreErrors) {
  const Script ends("exit 3");
  EXPECT_EQ(error_of(ErrorCode::backend, [&] { run_endless(*isolated(0, "ref", ends.program())); }),
            "the process of ref ended with status 3");
  const Script talks("echo hello hello hello hello >&3; exec sleep 1000");
  EXPECT_EQ(error_of(ErrorCode::backend, [&] { run_endless(*isolated(0, "ref", talks.program())); }),
            "another process sent something that is no message");
  const Script outlived("sleep 8 >/dev/null 2>&1 & exit 4");  // its child still has the socket
  EXPECT_EQ(error_of(ErrorCode::backend, [&] { run_endless(*isolated(4, "ref", outlived.program())); }),
            "the process of ref ended with status 4");
}

TEST(IsolatedBackend, ValueThatIsNotTakenEndsTheWorker) {
  const ir::Model model = parsed(std::string(kSmall));
  Diagnostics findings;
  const std::unique_ptr<exec::Session> session = isolated()->prepare(model, {}, findings);
  const std::vector<std::string> names = {"y", "t"};
  Throwing throwing;
  const std::unique_ptr<exec::Execution> execution = session->make_execution({});
  EXPECT_EQ(error_of(ErrorCode::io, [&] { execution->run(small_feeds(), names, throwing); }), "the disk is full");
  EXPECT_TRUE(children().empty());
  EXPECT_EQ(error_of(ErrorCode::backend, [&] { execution->run(small_feeds(), names, throwing); }),
            "the process of ref was ended: a value that it gave was not taken");
}

TEST(IsolatedBackend, MemoryIsLimited) {
  const Script shows("ulimit -d >&2; [ $(ulimit -d) = 1049600 ] && exit 5");
  const ir::Model model = parsed(std::string(kSmall));
  Diagnostics findings;
  EXPECT_EQ(
      error_of(ErrorCode::backend,
               [&] { isolated(0, "ref", shows.program())->prepare(model, {.max_memory_bytes = 1 << 20}, findings); }),
      "the process of ref ended with status 5");
}

}  // namespace
}  // namespace assay::remote
