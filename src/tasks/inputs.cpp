#include "tasks/inputs.h"

#include <cerrno>
#include <map>

#include <unistd.h>

#include "analysis/input_roles.h"
#include "base/errno_text.h"
#include "base/error.h"
#include "base/text.h"
#include "exec/feeds.h"
#include "formats/saved_data.h"
#include "tasks/fitted_inputs.h"

namespace assay::tasks {
namespace {

std::vector<tensor::NamedData> load_files(const std::vector<std::string>& paths, Observer& observer) {
  std::vector<tensor::NamedData> inputs;
  for (const std::string& path : paths) {
    observer.info("Loading input data from " + printable(path));
    for (tensor::NamedData& iteration : formats::load_inputs(path)) inputs.push_back(std::move(iteration));
  }
  if (inputs.empty()) fail(ErrorCode::usage, "the loaded files hold no inputs");
  return inputs;
}

InputData saved_inputs(std::vector<tensor::NamedData> iterations) {
  return {nullptr, exec::saved_source(std::move(iterations))};
}

InputData generated_inputs(const ir::Model& model, const InputRequest& request, Diagnostics& findings) {
  exec::GenerateOptions options = request.generated;
  options.roles = analysis::input_roles(model);
  return {nullptr, exec::generated_source(exec::signature_of(model), options, request.iterations, findings)};
}

InputData scripted_inputs(const remote::ScriptFunction& script, std::shared_ptr<remote::PythonHost> host) {
  exec::DataSourcePtr source = host->data_loader(script);
  return {std::move(host), std::move(source)};
}

}  // namespace

InputData make_inputs(const ir::Model& model, const InputRequest& request, Observer& observer, Diagnostics& findings,
                      std::shared_ptr<remote::PythonHost> host) {
  InputData data;
  if (request.script) {
    if (!host) host = make_python_host(request.search, request.timeout_seconds, observer);
    data = scripted_inputs(*request.script, std::move(host));
  } else if (!request.files.empty()) {
    data = saved_inputs(load_files(request.files, observer));
  } else if (!request.data.empty()) {
    data = saved_inputs(request.data);
  } else {
    data = generated_inputs(model, request, findings);
  }
  if (request.fits && !request.is_generated()) {
    data.source = fitted_source(std::move(data.source), exec::signature_of(model), observer);
  }
  if (request.casts) data.source = exec::cast_source(std::move(data.source), exec::signature_of(model));
  return data;
}

void tell_unused_inputs(const InputRequest& request, Observer& observer) {
  const auto tell = [&](const std::string& path, const std::string& setting) {
    if (access(path.c_str(), R_OK) != 0) {
      throw Error(ErrorCode::io, fmt::format("`{}` cannot be opened: {}", printable(path), errno_text(errno)))
          .about(setting);
    }
    observer.warning(fmt::format("`{}` is not used: the model is not run", printable(path)));
  };
  for (const std::string& path : request.files) tell(path, "load_inputs");
  if (request.script) tell(request.script->path, "data_loader_script");
}

std::shared_ptr<remote::PythonHost> make_python_host(const exec::LibrarySearch& search, double timeout_seconds,
                                                     Observer& observer) {
  return std::make_shared<remote::PythonHost>(remote::PythonOptions{
      .search = search, .timeout_seconds = timeout_seconds, .show = [&observer](std::string_view t) {
        observer.on_traceback(t);
      }});
}

std::vector<ops::InputDatum> first_inputs(const ir::Model& model, const InputData& data, Diagnostics& findings) {
  const std::optional<tensor::NamedData> first = data.source->get(0);
  if (!first) fail(ErrorCode::usage, "there are no inputs");
  std::map<std::string_view, ir::ValueId> by_name;
  for (const ir::ValueId input : model[model.main_graph()].inputs)
    by_name.emplace(model.text(model[input].name), input);
  std::vector<ops::InputDatum> inputs;
  for (exec::Feed& feed : exec::check_feeds(exec::signature_of(model), *first, findings)) {
    inputs.push_back({by_name.at(feed.name), std::move(feed.value)});
  }
  return inputs;
}

}  // namespace assay::tasks
