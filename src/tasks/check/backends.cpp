#include <cstdlib>

#include "exec/library_search.h"
#include "inspect/compatibility.h"
#include "remote/isolated_backend.h"
#include "tasks/check.h"

namespace assay::tasks {
namespace {

results::BackendHealth examine(const std::string& name, const exec::LibrarySearch& search) {
  const exec::Probe probe = remote::safe_backend(name, search)->probe(search);
  return {name, probe.usable, probe.version, probe.path, probe.providers, probe.tried};
}

}  // namespace

results::CompatibilityReport check_compatibility(
    const CompatibilityRequest& request, Observer& observer,
    const std::function<void(const results::BackendCompatibility&)>& on_backend) {
  const LoadedModel loaded = load_model(request.model, observer);
  tell_findings(loaded.findings, observer);
  results::CompatibilityReport report;
  report.path = request.model.path;
  for (const std::string& name : request.backends.empty() ? backend_names() : request.backends) {
    check_cancelled(observer);
    const exec::BackendPtr backend = remote::safe_backend(name, request.search);
    report.backends.push_back(inspect::inspect_compatibility(loaded.model, *backend, request.search));
    if (on_backend) on_backend(report.backends.back());
  }
  report.timings = {{"load_seconds", loaded.load_seconds}};
  return report;
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const exec::BackendPtr& backend : exec::all_backends()) names.emplace_back(backend->name());
  return names;
}

std::string plan_backend() { return std::string(exec::plan_builder()->name()); }

bool has_plans(const std::string& backend) { return exec::make_backend(backend)->traits().has_plans; }

bool builds_engines(const std::string& backend) { return exec::make_backend(backend)->traits().builds_engines; }

std::vector<BackendSettings> backend_settings() {
  std::vector<BackendSettings> all;
  for (const exec::BackendPtr& backend : exec::all_backends()) {
    std::vector<exec::Setting> settings = backend->settings();
    if (settings.empty()) continue;
    all.push_back({std::string(backend->name()), std::string(backend->title()), std::move(settings)});
  }
  return all;
}

std::vector<BackendLibrary> backend_libraries() {
  std::vector<BackendLibrary> libraries;
  const exec::LibrarySearch search = {.folders = std::make_shared<exec::FolderNames>()};
  for (const std::string& name : backend_names()) {
    const exec::FoundLibrary found = exec::make_backend(name)->library(search);
    if (!found.path.empty()) libraries.push_back({name, found.version, found.path.string()});
  }
  return libraries;
}

std::string find_python(const std::string& name) { return exec::find_interpreter(name).string(); }

results::DoctorReport doctor(const std::vector<std::string>& backends, const exec::LibrarySearch& search,
                             const std::function<void(const results::BackendHealth&)>& on_backend) {
  results::DoctorReport report;
  report.python = python_in_use(search);
  for (const std::string& name : backends.empty() ? backend_names() : backends) {
    report.backends.push_back(examine(name, search));
    if (on_backend) on_backend(report.backends.back());
    for (exec::DeviceProbe& device : exec::make_backend(name)->devices(search)) {
      report.devices.push_back({std::move(device.name), std::move(device.kind), device.memory_bytes,
                                std::move(device.capability), std::move(device.driver), std::move(device.compiler),
                                std::move(device.problem)});
    }
  }
  return report;
}

std::string python_in_use(const exec::LibrarySearch& search) {
  if (!search.python.empty()) return exec::find_interpreter(search.python).string();
  const char* const environment = std::getenv("VIRTUAL_ENV");
  const std::string wish = environment != nullptr && *environment != '\0' ? environment : "python3";
  return exec::find_interpreter(wish).string();
}

}  // namespace assay::tasks
