#include "tasks/edit.h"

#include "library/content.h"
#include "library/observer.h"
#include "tasks/convert.h"

namespace assay {
namespace {

// Turns the outcome of a task into a model of the caller's.
template <typename Outcome>
Model to_model(Outcome outcome, const Model& source) {
  return library::make_model(std::move(outcome.model), source.content().path, outcome.report.findings);
}

template <typename Conversion>
Model converted(const Model& model, Conversion conversion, const std::vector<Values>& inputs, Observer* observer) {
  library::TaskObserver watching(observer);
  tasks::ConvertRequest request;
  request.edit.model = library::source_of(model);
  request.inputs.data = library::to_internal(inputs);
  request.conversion = std::move(conversion);
  return to_model(tasks::convert(request, watching), model);
}

std::vector<surgery::Boundary> boundaries(const std::vector<std::string>& names) {
  std::vector<surgery::Boundary> result;
  for (const std::string& name : names) result.push_back({.name = name});
  return result;
}

}  // namespace

Model Model::infer_shapes(Observer* observer) const {
  library::TaskObserver watching(observer);
  tasks::LoadedModel loaded = tasks::load_model(library::source_of(*this), watching);
  tasks::infer_shapes(loaded);
  return library::make_model(std::move(loaded.model), content_->path, loaded.findings.all());
}

Model Model::sanitize(const SanitizeOptions& options, Observer* observer) const {
  library::TaskObserver watching(observer);
  tasks::SanitizeRequest request;
  request.edit.model = library::source_of(*this);
  request.passes.cleans = options.clean;
  request.passes.sorts = options.sort;
  request.passes.folds = options.fold_constants;
  request.passes.simplifies = options.simplify;
  request.passes.fuses = options.fuse;
  request.passes.passes = options.passes;
  tasks::check_passes(options.passes);
  if (options.opset) tasks::set_opset(*options.opset, request.passes);
  request.outputs.names = options.outputs;
  return to_model(tasks::sanitize(request, watching), *this);
}

Model Model::extract(const ExtractOptions& options, Observer* observer) const {
  library::TaskObserver watching(observer);
  tasks::ExtractRequest request;
  request.edit.model = library::source_of(*this);
  request.extraction.inputs = boundaries(options.inputs);
  request.extraction.outputs = boundaries(options.outputs);
  return to_model(tasks::extract(request, watching), *this);
}

Model Model::insert(const InsertOptions& options, Observer* observer) const {
  library::TaskObserver watching(observer);
  tasks::InsertRequest request;
  request.edit.model = library::source_of(*this);
  request.insertion.op = options.op;
  request.insertion.domain = options.domain;
  request.insertion.name = options.name;
  request.insertion.inputs = options.inputs;
  request.insertion.outputs = options.outputs;
  return to_model(tasks::insert(request, watching), *this);
}

Model Model::to_half(const HalfOptions& options, Observer* observer) const {
  tasks::HalfRequest request;
  request.options.half = options.type == Half::float16 ? tensor::DType::float16 : tensor::DType::bfloat16;
  request.options.keeps_interface = options.keep_interface;
  request.options.choice.excluded = options.excluded;
  request.measures_ranges = options.measure;
  return converted(*this, std::move(request), options.inputs, observer);
}

Model Model::quantize(const Int8Options& options, Observer* observer) const {
  tasks::Int8Request request;
  if (options.asymmetric) request.options.codes = convert::QdqCodes::uint8;
  request.options.per_channel = options.per_channel;
  request.options.choice.excluded = options.excluded;
  if (options.least_snr_db) request.bound = tasks::ErrorBound{true, *options.least_snr_db};
  tasks::set_calibrator(tasks::calibrators().front(), request);
  request.backend = options.backend;
  return converted(*this, std::move(request), options.inputs, observer);
}

Model Model::compress_weights(const WeightOptions& options, Observer* observer) const {
  tasks::WeightsRequest request;
  request.options.bits = options.bits;
  request.options.block_size = options.block_size;
  request.options.asymmetric = options.asymmetric;
  request.options.choice.excluded = options.excluded;
  return converted(*this, std::move(request), {}, observer);
}

}  // namespace assay
