#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "report/json_reports.h"
#include "tasks/check.h"

namespace assay::cli {
namespace {

void print_health(const results::BackendHealth& backend, Log& log) {
  if (backend.usable) {
    const std::string path = backend.path.empty() ? "" : fmt::format(" | {}", printable(backend.path));
    const std::string providers = backend.providers.empty() ? "" : fmt::format(" | {}", join(backend.providers, ", "));
    log.info(fmt::format("{:<8} | usable | {}{}{}", backend.backend, backend.version, path, providers));
  } else {
    log.info(fmt::format("{:<8} | not usable | {}", backend.backend, backend.version));
  }
  const Log::Indent indent(log);
  for (const std::string& place : backend.tried) log.report(LogLevel::verbose, place);
}

void print_device(const results::DeviceHealth& device, Log& log) {
  if (!device.problem.empty()) {
    log.info(fmt::format("{:<8} | not usable | {}", device.kind, device.problem));
    return;
  }
  log.info(fmt::format("{:<8} | usable | {} | {} GiB | capability {} | {} | {}", device.kind, device.name,
                       device.memory_bytes >> 30, device.capability, device.driver, device.compiler));
}

// Says what the variable of the peer does not do here.
void print_about_installing(Log& log) {
  const char* const wish = std::getenv("POLYGRAPHY_AUTOINSTALL_DEPS");
  if (wish == nullptr || *wish == '\0' || std::string_view(wish) == "0") return;
  log.warning(
      "POLYGRAPHY_AUTOINSTALL_DEPS is set, but assay installs nothing by itself; to install the backends: pip install "
      "onnxruntime openvino");
}

int run_doctor(const Arguments& arguments, Environment& environment) {
  const Stopwatch total;
  const std::vector<std::string> wanted = chosen_backends(arguments);
  const exec::LibrarySearch search = library_search(arguments);
  const std::string python = tasks::python_in_use(search);
  environment.log.info(fmt::format("{:<8} | {}", "python", python.empty() ? "none found" : printable(python)));
  results::DoctorReport report = tasks::doctor(
      wanted, search, [&](const results::BackendHealth& backend) { print_health(backend, environment.log); });
  for (const results::DeviceHealth& device : report.devices) print_device(device, environment.log);
  print_about_installing(environment.log);
  report.timings = {{"total_seconds", total.seconds()}};
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  const bool is_one_missing = !std::ranges::all_of(report.backends, &results::BackendHealth::usable);
  return is_one_missing && !wanted.empty() ? kExitUndecided : kExitEqual;
}

}  // namespace

Command command_doctor() {
  return {.path = "doctor",
          .summary = "report which backends can be used, or why not",
          .description =
              "Opens the library of each backend, all of this build unless some are named, and reports its version and "
              "path, or why it cannot be used; -v lists every place that was searched. Libraries are searched for in "
              "the place that ASSAY_ONNXRUNTIME or ASSAY_OPENVINO names; without it, in the packages of --python, of "
              "VIRTUAL_ENV, of the first python3 on PATH and of the user, and in the system's folders. Exit status: 0, "
              "or 3 if a backend was named and cannot be used.",
          .groups = {logging_group(), backend_group(), json_group()},
          .run = run_doctor,
          .examples = {"assay doctor", "assay doctor -v --onnxrt --python .venv/bin/python"}};
}

}  // namespace assay::cli
