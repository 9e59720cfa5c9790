// Runs our own cases (tests/cases/README.md) through one of our backends.
//
//   op_cases [--backend NAME] [--only PATTERN] [--known FILE] [--verbose] PATH...
//   op_cases --describe FOLDER FILE             serves tools/fill_cases.py
//
// PATH is a .case file or a folder of them; PATTERN has shell wildcards and is compared with the names of runs, as
// `case:f16@11`. FILE lists what the backend is known to fail (runners/known_failures.h). Each failure names the
// command line that repeats it; --verbose names every run before it begins, so that one that ends the program is seen.
// The status is 1 if anything failed.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "runners/case_describe.h"
#include "runners/case_model.h"
#include "runners/known_failures.h"
#include "runners/run_model.h"
#include "runners/value_weakness.h"
#include "support/far_backend.h"

namespace {

using namespace assay;
using namespace assay::cases;
namespace fs = std::filesystem;

struct Options {
  std::string program;
  std::string backend = "ref";
  std::string only = "*";
  fs::path known;
  bool is_verbose = false;
  fs::path describe;
  std::vector<fs::path> paths;
};

Options parse(const std::vector<std::string>& words) {
  Options options;
  options.program = words.at(0);
  for (size_t i = 1; i < words.size(); ++i) {
    const bool has_value = i + 1 < words.size();
    if (words[i] == "--backend" && has_value) {
      options.backend = words[++i];
    } else if (words[i] == "--only" && has_value) {
      options.only = words[++i];
    } else if (words[i] == "--known" && has_value) {
      options.known = words[++i];
    } else if (words[i] == "--verbose") {
      options.is_verbose = true;
    } else if (words[i] == "--describe" && has_value) {
      options.describe = words[++i];
    } else if (words[i].substr(0, 1) != "-") {
      options.paths.emplace_back(words[i]);
    } else {
      fail(ErrorCode::usage, "unexpected word `{}`", words[i]);
    }
  }
  if (options.paths.empty()) fail(ErrorCode::usage, "expected a .case file or a folder of them");
  return options;
}

std::vector<fs::path> case_files(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (entry.path().extension() == ".case") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Movement copies elements, so that nothing is rounded.
Tolerance default_tolerance(const fs::path& file) {
  const bool is_movement = file.parent_path().filename() == "movement";
  return is_movement ? Tolerance{.bits = true} : Tolerance{.ulp = 2};
}

class Runner {
 public:
  explicit Runner(const Options& options)
      : options_(options), backend_(testing_support::find_any_backend(options.backend)) {
    if (!options.known.empty()) known_ = KnownFailures(options.known);
  }

  void run(const fs::path& path) {
    const CaseFile file = read_case_file(path);
    for (const Case& item : file.cases) {
      for (const CaseRun& run : runs_of(file, item)) {
        if (matches_glob(options_.only, run.name)) judge(file, run);
      }
    }
  }

  // Whether nothing failed.
  bool print_counts() {
    for (const std::string& run : options_.only == "*" ? known_.stale() : std::vector<std::string>()) {
      ++failed_;
      fmt::print("FAIL {} lists {}, which fits no run\n", options_.known.string(), run);
    }
    fmt::print("{} passed, {} failed, {} skipped\n", passed_, failed_, skipped_);
    return failed_ == 0 && passed_ + skipped_ > 0;
  }

 private:
  void judge(const CaseFile& file, const CaseRun& run) {
    const KnownFailures::Kind known = known_.find(file.path, run.name);
    if (known == KnownFailures::Kind::not_run) return static_cast<void>(++skipped_);
    if (options_.is_verbose) {
      fmt::print("run {} {}\n", file.path.string(), run.name);
      std::fflush(stdout);
    }
    std::string reason = fault(run);
    const auto is_meant = [&](const Skip& skip) {
      return skip.backend == options_.backend && matches_glob(skip.pattern, run.name);
    };
    if (known == KnownFailures::Kind::sometimes) return static_cast<void>(++(reason.empty() ? passed_ : skipped_));
    const bool is_known = known == KnownFailures::Kind::always;
    if (is_known || std::any_of(file.skips.begin(), file.skips.end(), is_meant)) {
      if (!reason.empty()) return static_cast<void>(++skipped_);
      reason = fmt::format("it passes, but {} says that it does not", is_known ? "the list" : "a line `skip`");
    }
    if (reason.empty()) return static_cast<void>(++passed_);
    ++failed_;
    fmt::print("FAIL {}:{}: {}: {}\n  repeat: {} --backend {} --only '{}' {}\n", file.path.string(), run.item->line,
               run.name, reason, options_.program, options_.backend, run.name, file.path.string());
  }

  // Empty if all outputs, or the refusal, are as expected.
  std::string fault(const CaseRun& run) const {
    std::string found;
    const std::string failure = failure_of([&] { found = run.item->error ? refusal_fault(run) : output_fault(run); });
    return failure.empty() ? found : failure;
  }

  std::string output_fault(const CaseRun& run) const {
    const BuiltCase built = build(run);
    std::vector<const Output*> outputs;
    std::vector<std::string> names;
    for (const Output& output : run.item->outputs) {
      if (output.name.empty()) continue;
      if (output.is_unfilled) return fmt::format("output `{}` is not filled: see tools/fill_cases.py", output.name);
      outputs.push_back(&output);
      names.push_back(output.name);
    }
    Diagnostics findings;
    const std::unique_ptr<exec::Session> session = backend_->prepare(built.model, {}, findings);
    const std::vector<tensor::Datum> seen = run_once(*session, built.feeds, names);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string found = value_fault(run, *outputs[i], seen[i]);
      if (!found.empty()) return fmt::format("output `{}`: {}", names[i], found);
    }
    return {};
  }

  static std::string value_fault(const CaseRun& run, const Output& output, const tensor::Datum& seen) {
    const tensor::Datum expected = make_value(expected_of(run, output)->value, run.scope);
    const std::string weak = run.item->is_constant_ok ? "" : weakness(expected);
    if (!weak.empty()) return fmt::format("not tested: {}", weak);
    return difference(seen, expected, run.item->tolerance.value_or(default_tolerance(run.scope.path)));
  }

  // Empty if the backend refuses as the case says. Only `ref` must say it in these words.
  std::string refusal_fault(const CaseRun& run) const {
    const BuiltCase built = build(run);
    const std::string failure = failure_of([&] {
      Diagnostics findings;
      const std::unique_ptr<exec::Session> session = backend_->prepare(built.model, {}, findings);
      run_once(*session, built.feeds, output_names(built.model));
    });
    if (failure.empty()) return fmt::format("no error, expected `{}`", *run.item->error);
    const bool is_said = options_.backend != "ref" || failure.find(*run.item->error) != std::string::npos;
    return is_said ? "" : fmt::format("the error is `{}`, expected `{}` in it", failure, *run.item->error);
  }

  const Options& options_;
  exec::BackendPtr backend_;
  KnownFailures known_;
  size_t passed_ = 0;
  size_t failed_ = 0;
  size_t skipped_ = 0;
};

bool run(const Options& options) {
  if (!options.describe.empty()) {
    fmt::print("{}", describe_unfilled(read_case_file(options.paths[0]), options.describe));
    return true;
  }
  Runner runner(options);
  for (const fs::path& path : options.paths) {
    for (const fs::path& file : case_files(path)) runner.run(file);
  }
  return runner.print_counts();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse({argv, argv + argc})) ? 0 : 1;
  } catch (const Error& error) {
    fmt::print(stderr, "op_cases: {}\n", error.line());
    return kExitUsage;
  }
}
