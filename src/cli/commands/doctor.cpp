#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/stopwatch.h"
#include "exec/library_search.h"
#include "remote/isolated_backend.h"
#include "report/json_doctor.h"

namespace assay::cli {
namespace {

std::vector<std::string> all_backends() {
  std::vector<std::string> names;
  for (const Registered<exec::Backends>& file : exec::registered_backends()) {
    for (const exec::BackendPtr& backend : file.make()) names.emplace_back(backend->name());
  }
  return names;
}

results::BackendHealth examine(const std::string& name, const exec::LibrarySearch& search) {
  const exec::Probe probe = remote::safe_backend(name, search)->probe(search);
  return {name, probe.usable, probe.version, probe.path, probe.providers, probe.tried};
}

void print(const results::BackendHealth& backend, Log& log) {
  if (backend.usable) {
    const std::string path = backend.path.empty() ? "" : fmt::format(" | {}", printable(backend.path));
    const std::string providers = backend.providers.empty() ? "" : fmt::format(" | {}", join(backend.providers, ", "));
    log.info(fmt::format("{:<8} | usable | {}{}{}", backend.backend, backend.version, path, providers));
  } else {
    log.info(fmt::format("{:<8} | not usable | {}", backend.backend, backend.version));
  }
  const Log::Indent indent(log);
  for (const std::string& place : backend.tried) log.verbose(place);
}

// What users of the peer expect of its variable does not happen here.
void print_about_installing(Log& log) {
  const char* const wish = std::getenv("POLYGRAPHY_AUTOINSTALL_DEPS");
  if (wish == nullptr || *wish == '\0' || std::string_view(wish) == "0") return;
  log.warning(
      "POLYGRAPHY_AUTOINSTALL_DEPS is set, but nothing is installed unasked; to install the backends: pip install "
      "onnxruntime openvino");
}

std::string interpreter(const exec::LibrarySearch& search) {
  if (!search.python.empty()) return exec::find_interpreter(search.python).string();
  const char* const environment = std::getenv("VIRTUAL_ENV");
  const std::string wish = environment != nullptr && *environment != '\0' ? environment : "python3";
  return exec::find_interpreter(wish).string();
}

int run(const Arguments& arguments, Environment& environment) {
  const Stopwatch total;
  const std::vector<std::string> wanted = chosen_backends(arguments);
  const exec::LibrarySearch search = library_search(arguments);
  results::DoctorReport report;
  report.python = interpreter(search);
  environment.log.info(
      fmt::format("{:<8} | {}", "python", report.python.empty() ? "none found" : printable(report.python)));
  bool is_one_missing = false;
  for (const std::string& name : wanted.empty() ? all_backends() : wanted) {
    report.backends.push_back(examine(name, search));
    print(report.backends.back(), environment.log);
    is_one_missing = is_one_missing || !report.backends.back().usable;
  }
  print_about_installing(environment.log);
  report.timings = {{"total_seconds", total.seconds()}};
  if (wants_json(arguments)) write_json(arguments, environment, report::doctor_json(report));
  return is_one_missing && !wanted.empty() ? kExitUndecided : kExitEqual;
}

}  // namespace

Command command_doctor() {
  return {.path = "doctor",
          .summary = "tell which backends can be used, or why not",
          .description =
              "Opens the library of each backend, all of this build unless some are named, and tells its version and "
              "where it lies, or why it cannot be used; -v lists every place that was looked at. Libraries are looked "
              "for where ASSAY_ONNXRUNTIME or ASSAY_OPENVINO says and, without it, in the packages of --python, of "
              "VIRTUAL_ENV, of the first python3 on PATH and of the user, and in the system's folders. Exit status: 0, "
              "or 3 if a backend was named and cannot be used.",
          .groups = {logging_group(), backend_group(), json_group()},
          .run = run,
          .examples = {"assay doctor", "assay doctor -v --onnxrt --python .venv/bin/python"}};
}

}  // namespace assay::cli
