#include "tasks/convert/layer_errors.h"

#include "base/error.h"

namespace assay::tasks {
namespace {

std::string usual_backend(const exec::LibrarySearch& search) {
  constexpr std::string_view kFast = "onnxrt";
  const bool is_there = exec::make_backend(kFast)->probe(search).usable;
  return is_there ? std::string(kFast) : "ref";
}

}  // namespace

Measuring& LayerErrors::measuring() {
  if (backend_.empty()) backend_ = usual_backend(job_.request.session.search);
  if (!measuring_) measuring_.emplace(job_, backend_);
  return *measuring_;
}

void LayerErrors::measure(const std::vector<ir::NodeId>& nodes) {
  const ir::Model& model = job_.loaded.model;
  const auto errors = try_to_measure(measuring().measurement(), model, job_.loaded.findings);
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const ir::ValueId value : model[nodes[i]].results) {
      const auto found = value ? errors.find(std::string(model.text(model[value].name))) : errors.end();
      if (found != errors.end()) job_.report.layers[i].error = found->second;
    }
  }
}

std::map<std::string, results::LayerError> try_to_measure(convert::Measurement& measurement, const ir::Model& converted,
                                                          Diagnostics& findings) {
  auto measured = attempt([&] { return measurement.errors(converted); });
  if (const Error* error = std::get_if<Error>(&measured)) {
    if (error->code() == ErrorCode::cancelled) throw *error;
    findings.warn("error", "", "the errors could not be measured: " + error->line());
    return {};
  }
  return std::move(std::get<0>(measured));
}

}  // namespace assay::tasks
