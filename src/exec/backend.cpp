#include "exec/backend.h"

#include "base/error.h"
#include "base/text.h"
#include "exec/set_backend.h"

namespace assay::exec {

std::vector<Refusal> refusals_of_preparing(const Backend& backend, const Backend& interpreter, const ir::Model& model,
                                           const LibrarySearch& search) {
  SessionOptions options;
  options.search = search;
  Diagnostics findings;
  try {
    backend.prepare(model, options, findings);
  } catch (const Error& error) {
    std::vector<Refusal> refusals;
    for (const ir::NodeId node : interpreter.blamed(model, error))
      refusals.push_back({node, error.line(), error.remedy()});
    if (refusals.empty()) refusals.push_back({ir::NodeId{}, error.line(), error.remedy()});
    return refusals;
  }
  return {};
}

void SettingChange::apply(Settings& settings) const {
  if (value)
    settings.set(name, {*value});
  else
    settings.erase(name);
}

void Backend::build_plan(const ir::Model&, const SessionOptions&, const std::filesystem::path&, Diagnostics&) const {
  fail(ErrorCode::unsupported, "the backend {} has no saved plans", name());
}

std::unique_ptr<Session> Backend::open_plan(const std::filesystem::path& plan, const SessionOptions&,
                                            Diagnostics&) const {
  fail(ErrorCode::unsupported, "`{}`: the backend {} has no saved plans", printable(plan.native()), name());
}

Backends all_backends() {
  Backends all;
  for (const Registered<Backends>& file : registered_backends()) {
    for (BackendPtr& backend : file.make()) all.push_back(std::move(backend));
  }
  return all;
}

BackendPtr make_backend(std::string_view name) {
  if (has_words(name)) return make_set_backend(BackendWords::parse(name));
  std::vector<std::string> known;
  for (BackendPtr& backend : all_backends()) {
    if (backend->name() == name) return std::move(backend);
    known.emplace_back(backend->name());
  }
  fail(ErrorCode::usage, "unknown backend `{}`; backends: {}", printable(name), join(known, ", "));
}

BackendPtr plan_builder() {
  for (BackendPtr& backend : all_backends()) {
    if (backend->traits().has_plans) return std::move(backend);
  }
  fail(ErrorCode::unsupported, "no backend of this build has plans");
}

BackendPtr find_backend(std::string_view name, const LibrarySearch& search) {
  BackendPtr backend = make_backend(name);
  const Probe probe = backend->probe(search);
  if (probe.usable) return backend;
  throw Error(ErrorCode::backend, fmt::format("backend `{}` cannot be used: {}", name, probe.version))
      .remedied_by(probe.tried.empty() ? "" : "library_places");
}

}  // namespace assay::exec
