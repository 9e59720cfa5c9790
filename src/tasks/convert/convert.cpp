#include <algorithm>

#include "base/error.h"
#include "base/paths.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "convert/conversion/half.h"
#include "convert/conversion/weights.h"
#include "engine/layers/quantization.h"
#include "engine/plan/saved_plan.h"
#include "exec/backend.h"
#include "ir/edit.h"
#include "passes/pipelines.h"
#include "surgery/boundary_types.h"
#include "tasks/convert/calibration.h"
#include "tasks/convert/statistics.h"
#include "tasks/edit/steps.h"
#include "tasks/interface.h"
#include "tasks/save.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

convert::Conversion conversion_of(ConversionJob& job, JobHost& host) {
  return {job.loaded.model, job.rewriter, job.loaded.findings, host};
}

results::ConversionReport apply(const std::monostate&, ConversionJob&) { return {}; }

results::ConversionReport apply(const HalfRequest& request, ConversionJob& job) {
  JobHost host(job, request.backend);
  return convert::convert_to_half(conversion_of(job, host),
                                  {request.options, request.measures_ranges, request.margin, request.reports_errors});
}

results::ConversionReport apply(const Int8Request& request, ConversionJob& job) {
  JobHost host(job, request.backend);
  JobRanges ranges(request, job, host);
  return convert::convert_to_int8(conversion_of(job, host),
                                  {request.options, request.bound, request.trials, request.reports_errors}, ranges);
}

results::ConversionReport apply(const WeightsRequest& request, ConversionJob& job) {
  JobHost host(job, request.backend);
  return convert::convert_weights(conversion_of(job, host), {request.options, request.trials, request.reports_errors});
}

results::ConversionReport apply(const MendRequest& request, ConversionJob& job) {
  JobHost host(job, "ref");
  return convert::mend(conversion_of(job, host), request);
}

results::ConversionReport apply(const ConvertRequest& request, ConversionJob& job) {
  const bool converts = !std::holds_alternative<std::monostate>(request.conversion);
  if (converts) passes::inline_functions(job.loaded.model, job.rewriter);
  results::ConversionReport report =
      std::visit([&](const auto& conversion) { return apply(conversion, job); }, request.conversion);
  report.model = request.edit.model.path;
  report.output = request.edit.output;
  if (converts) job.observer.on_conversion(report);
  return report;
}

constexpr const char* kModelOfPlan = "assay.model";  // metadata of a plan that was built of a changed model

bool is_changed(const ConvertRequest& request) {
  return request.infers || !request.outputs.is_empty() || !request.interface_types.empty() ||
         !std::holds_alternative<std::monostate>(request.conversion);
}

std::string full_path(const std::string& path) { return absolute_path(path).lexically_normal().string(); }

void build_plan(const ConvertRequest& request, ir::Model& model, Observer& observer) {
  exec::SessionOptions session = request.session;
  session.path = is_changed(request) ? "" : runnable_path(request.edit.model);
  const std::string& path = request.edit.model.path;
  if (session.path.empty() && !path.empty() && path != "-") {
    ir::Edit(model).header().metadata.emplace_back(kModelOfPlan, full_path(path));
  }
  session.on_layer = layer_counter(observer);
  observer.info("Building engine: " + printable(request.edit.output));
  Diagnostics findings;
  const exec::BackendPtr builder =
      request.builder.empty() ? exec::plan_builder() : exec::find_backend(request.builder, session.search);
  builder->build_plan(model, session, request.edit.output, findings);
  tell_findings(findings, observer);
}

LoadedModel load(const ConvertRequest& request, Observer& observer) {
  LoadedModel loaded = load_model(request.edit.model, observer);
  require_runnable(loaded);
  if (request.infers) infer_shapes(loaded);
  set_interface({request.outputs, request.interface_types}, loaded);
  return loaded;
}

void save(const ConvertRequest& request, ir::Model& model, Observer& observer) {
  if (request.edit.output.empty() || request.builds_plan) surgery::complete_outputs(model);
  if (request.builds_plan)
    build_plan(request, model, observer);
  else if (!request.edit.output.empty())
    save_model(model, request.edit.output, request.edit.save, observer);
}

}  // namespace

ConvertOutcome convert(const ConvertRequest& request, Observer& observer) {
  const TaskThreads threads(request.session.threads);
  const Stopwatch total;
  LoadedModel loaded = load(request, observer);
  const Stopwatch converting;
  ir::Rewriter rewriter(loaded.model, request.last_step);
  ConversionJob job{request, observer, loaded, rewriter};
  results::ConversionReport report = apply(request, job);
  if (!job.uses_inputs) tell_unused_inputs(request.inputs, observer);
  if (request.explains) report.steps = explain_steps(rewriter, observer);
  tell_findings(loaded.findings, observer);
  const double convert_seconds = converting.seconds();
  const Stopwatch saving;
  save(request, loaded.model, observer);
  report.findings = loaded.findings.all();
  report.timings = {{"load_seconds", loaded.load_seconds},
                    {"convert_seconds", convert_seconds},
                    {"save_seconds", saving.seconds()},
                    {"total_seconds", total.seconds()}};
  return {std::move(report), std::move(loaded.model)};
}

void save_statistics(const ConvertRequest& request, const std::string& path, Observer& observer) {
  const TaskThreads threads(request.session.threads);
  LoadedModel loaded = load(request, observer);
  ir::Rewriter rewriter(loaded.model);
  passes::inline_functions(loaded.model, rewriter);
  ConversionJob job{request, observer, loaded, rewriter};
  const auto& int8 = std::get<Int8Request>(request.conversion);
  JobHost host(job, int8.backend);
  const std::vector<std::string> names = convert::prepare_for_int8(conversion_of(job, host), int8.options);
  calibrate::Statistics statistics;
  if (!names.empty()) statistics = host.measure(loaded.model).statistics(names, true);
  tell_findings(loaded.findings, observer);
  write_statistics(statistics, request.edit.model.path, path);
  observer.info(fmt::format("Saved statistics of {} value(s) to {}", statistics.size(), printable(path)));
}

bool is_plan_of(const std::string& plan, const std::string& model) {
  if (!engine::PlanFile::is_plan(plan)) return false;
  const auto found = attempt([&] {
    const engine::SavedPlan saved = engine::open_plan(plan);
    const std::pair<std::string, std::string> noted(kModelOfPlan, full_path(model));
    const auto& metadata = saved.source().header().metadata;
    return saved.manifest().source == noted.second || std::ranges::find(metadata, noted) != metadata.end();
  });
  const bool* is_of_model = std::get_if<bool>(&found);
  return is_of_model != nullptr && *is_of_model;
}

std::optional<ir::Model> quantized(const QuantizedCopy& copy, Observer& observer) {
  const Int8Request* const int8 = std::get_if<Int8Request>(&copy.integers);
  if (int8 != nullptr && engine::has_quantizers(copy.model)) {
    observer.info("The model has quantizers: what is computed in integers is their decision");
    return std::nullopt;
  }
  ConvertRequest request{.edit = {}, .session = copy.session, .inputs = copy.inputs};
  if (int8 != nullptr)
    request.conversion = *int8;
  else
    request.conversion = std::get<WeightsRequest>(copy.integers);
  request.edit.model.model = &copy.model;
  request.session.settings = {};
  request.session.values.clear();
  request.session.path.clear();
  return convert(request, observer).model;
}

}  // namespace assay::tasks
