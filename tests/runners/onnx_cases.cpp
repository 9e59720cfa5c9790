// Runs ONNX's own backend tests, as tools/make_node_tests.py writes them, through one of our backends.
//
//   onnx_cases FOLDER [--backend NAME] [--only PATTERN] [--from TEST] [--list-failures] [--json FILE]
//
// PATTERN has shell wildcards; FOLDER/index.json says which tests there are. Each failure is a line `FAIL test: reason`
// (with --list-failures only its name), the last line counts by kind. FILE gets one JSON object a line, written when a
// test ends, so that whoever reads it knows which test killed the process; --from goes on behind it. The status is 0
// whatever the tests say, and 2 for wrong usage.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "onnx/load.h"
#include "onnx/value_file.h"
#include "runners/onnx_feeds.h"
#include "runners/onnx_index.h"
#include "runners/run_model.h"
#include "runners/value_compare.h"
#include "support/far_backend.h"

namespace {

using namespace assay;
using namespace assay::cases;
namespace fs = std::filesystem;

struct Options {
  fs::path folder;
  std::string backend = "ref";
  std::string only = "*";
  std::string from;
  fs::path json;
  bool names_only = false;
};

struct Count {
  size_t passed = 0;
  size_t total = 0;
};

Options parse(const std::vector<std::string>& words) {
  Options options;
  const std::map<std::string, std::string*> texts = {
      {"--backend", &options.backend}, {"--only", &options.only}, {"--from", &options.from}};
  for (size_t i = 0; i < words.size(); ++i) {
    const auto text = texts.find(words[i]);
    if (words[i] == "--list-failures") {
      options.names_only = true;
    } else if (text != texts.end() && i + 1 < words.size()) {
      *text->second = words[++i];
    } else if (words[i] == "--json" && i + 1 < words.size()) {
      options.json = words[++i];
    } else if (options.folder.empty() && words[i].substr(0, 1) != "-") {
      options.folder = words[i];
    } else {
      fail(ErrorCode::usage, "unexpected word `{}`", words[i]);
    }
  }
  if (options.folder.empty()) fail(ErrorCode::usage, "expected a folder of tests");
  return options;
}

class DataSet {
 public:
  DataSet(const ir::Model& model, const fs::path& folder) : model_(model), folder_(folder) {}

  // Empty if all outputs are as expected.
  std::string run(exec::Session& session, const Tolerance& tolerance) {
    const std::vector<std::string> names = output_names(model_);
    const std::vector<tensor::Datum> seen = run_once(session, read_feeds(model_, folder_), names);
    const std::vector<fs::path> files = numbered_files(folder_, "output");
    if (files.size() != names.size()) return fmt::format("{} output files for {} outputs", files.size(), names.size());
    for (size_t i = 0; i < files.size(); ++i) {
      const ir::ValueId output = model_.outputs(model_.main_graph())[i].value;
      const tensor::Datum expected = onnx::read_value(files[i], model_.types(), model_[output].type);
      const std::string found = difference(seen[i], expected, tolerance);
      if (!found.empty()) return fmt::format("output `{}`: {}", names[i], found);
    }
    return {};
  }

 private:
  const ir::Model& model_;
  fs::path folder_;
};

ir::Model load(const fs::path& path) {
  Diagnostics findings;
  ir::Model model = onnx::load(path, {}, findings);
  for (const Diagnostic& finding : findings.all()) {
    if (finding.severity == Severity::error) fail(ErrorCode::parse, "{}: {}", finding.node, finding.message);
  }
  return model;
}

std::string run_test(const exec::Backend& backend, const fs::path& folder, const OnnxTest& test) {
  constexpr double kTwoBfloat16Ulps = 0x1p-6;  // as ONNX's own runner allows
  const ir::Model model = load(folder / test.folder / "model.onnx");
  Diagnostics findings;
  const std::unique_ptr<exec::Session> session = backend.prepare(model, {}, findings);
  const Tolerance tolerance{.abs = test.atol, .rel = test.rtol, .least_bfloat16_rel = kTwoBfloat16Ulps};
  for (size_t i = 0; i < test.data_sets; ++i) {
    DataSet data(model, folder / test.folder / fmt::format("test_data_set_{}", i));
    const std::string found = data.run(*session, tolerance);
    if (!found.empty()) return fmt::format("data set {}: {}", i, found);
  }
  return {};
}

// A JSON document has no line breaks but those between its parts.
std::string one_line(const std::string& document) {
  std::string line;
  for (const std::string_view part : split(document, '\n'))
    line += part.substr(std::min(part.find_first_not_of(' '), part.size()));
  return line + "\n";
}

class Report {
 public:
  explicit Report(const Options& options) : names_only_(options.names_only) {
    if (options.json.empty()) return;
    json_ = std::fopen(options.json.c_str(), "w");
    if (json_ == nullptr) fail(ErrorCode::io, "`{}` cannot be written", options.json.string());
  }
  ~Report() {
    if (json_ != nullptr) std::fclose(json_);
  }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  void add(const OnnxTest& test, const std::string& reason, double seconds) {
    Count& count = counts_[test.kind];
    ++count.total;
    count.passed += reason.empty();
    if (!reason.empty() && names_only_) fmt::print("{}\n", test.name);
    if (!reason.empty() && !names_only_) fmt::print("FAIL {}: {}\n", test.name, reason);
    std::fflush(stdout);
    if (json_ != nullptr) write(test, reason, seconds);
  }

  void print_counts() const {
    std::string line;
    Count all;
    for (const auto& [kind, count] : counts_) {
      line += fmt::format("{} {}/{}, ", kind, count.passed, count.total);
      all.passed += count.passed;
      all.total += count.total;
    }
    fmt::print("{}all {}/{}\n", line, all.passed, all.total);
  }

 private:
  void write(const OnnxTest& test, const std::string& reason, double seconds) {
    JsonWriter writer;
    writer.begin_object();
    writer.field("name", test.name);
    writer.field("kind", test.kind);
    writer.field("passed", reason.empty());
    writer.field("reason", reason);
    writer.field("seconds", seconds);
    writer.end_object();
    const std::string line = one_line(writer.text());
    std::fwrite(line.data(), 1, line.size(), json_);
    std::fflush(json_);
  }

  bool names_only_;
  std::FILE* json_ = nullptr;
  std::map<std::string, Count> counts_;
};

void run(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const exec::BackendPtr backend = testing_support::find_any_backend(options.backend);
  Report report(options);
  bool started = options.from.empty();
  for (const OnnxTest& test : read_onnx_index(options.folder / "index.json")) {
    started = started || test.name == options.from;
    if (!started || !matches_glob(options.only, test.name)) continue;
    const Clock::time_point start = Clock::now();
    std::string reason;
    const std::string failure = failure_of([&] { reason = run_test(*backend, options.folder, test); });
    report.add(test, failure.empty() ? reason : failure, std::chrono::duration<double>(Clock::now() - start).count());
  }
  report.print_counts();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse({argv + 1, argv + argc}));
  } catch (const Error& error) {
    fmt::print(stderr, "onnx_cases: {}\n", error.line());
    return kExitUsage;
  }
  return 0;
}
