#include "tasks/precision.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "debug/subgraph.h"
#include "exec/backend.h"
#include "ir/naming.h"
#include "surgery/boundary_types.h"
#include "tasks/convert.h"
#include "tasks/debug/check_loop.h"
#include "tasks/debug/comparing_judge.h"
#include "tasks/debug/subject.h"
#include "tasks/save.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

using debug::Subset;
using debug::Verdict;

std::string_view word(LowPrecision low) {
  return low == LowPrecision::float16 ? "float16" : low == LowPrecision::bfloat16 ? "bfloat16" : "int8";
}

std::string_view word(PrecisionDirection direction) {
  return direction == PrecisionDirection::forward   ? "forward"
         : direction == PrecisionDirection::reverse ? "reverse"
                                                    : "any";
}

const Calibrator& minmax() { return *std::ranges::find(calibrators(), "minmax", &Calibrator::word); }

// A backend that computes float16 in float32 must round each result, or what is searched for does not show.
PrecisionRequest with_roundings(PrecisionRequest request) {
  const std::string& name = request.comparison.backend;
  const exec::BackendPtr backend = name.empty() ? exec::plan_builder() : exec::make_backend(name);
  if (request.low != LowPrecision::float16 || !backend->traits().widens_float16) return request;
  exec::Settings& settings = request.comparison.session.settings;
  for (const exec::SettingChange& change : backend->stricter_settings(settings)) change.apply(settings);
  return request;
}

constexpr std::string_view kStays = "it is to stay in float32";

class PrecisionSearch {
 public:
  PrecisionSearch(const PrecisionRequest& request, const Subject& subject, Observer& observer)
      : request_(with_roundings(request)),
        model_(subject.loaded.model),
        observer_(observer),
        parts_(model_),
        values_(model_, subject.inputs, request.comparison.session.max_memory_bytes),
        loop_(request.check, request.comparison.backend.empty() ? request.artifact : "", observer) {
    if (request.keeps_artifact) loop_.keep_artifact();
    if (!request.comparison.backend.empty()) comparing_.emplace(request_.comparison, model_, subject.inputs, &values_);
  }

  results::PrecisionReport run() {
    report_.model = request_.model.path;
    report_.low = word(request_.low);
    report_.direction = word(request_.direction);
    report_.layer_count = parts_.count();
    if (request_.low != LowPrecision::int8 && !converted({}).report.changed)
      observer_.warning(
          fmt::format("the conversion to {} changes nothing: all models of this search are the same", report_.low));
    const std::optional<Subset> kept = search();
    report_.is_found = kept.has_value();
    if (kept) finish(*kept);
    report_.loop = loop_.take();
    if (comparing_ && !comparing_->symptom().empty()) observer_.info("The first that fails: " + comparing_->symptom());
    return std::move(report_);
  }

 private:
  // The layers that stay, or nothing where not even all of them are enough.
  std::optional<Subset> search() {
    if (passes({})) return Subset();
    Subset all(parts_.count());
    std::iota(all.begin(), all.end(), 0);
    if (request_.direction != PrecisionDirection::any) return of_one_end(all);
    if (!surely_passes(all)) return std::nullopt;
    const auto judge = [this](std::span<const Subset> subsets, uint64_t remaining) {
      std::vector<Verdict> verdicts;
      for (const Subset& subset : subsets)
        verdicts.push_back(passes(subset, remaining) ? Verdict::fails : Verdict::passes);
      return verdicts;
    };
    return debug::minimize(parts_.count(), judge, {.is_linear = request_.is_linear});
  }

  Subset end_of(const Subset& all, size_t count) const {
    const auto size = static_cast<std::ptrdiff_t>(count);
    return request_.direction == PrecisionDirection::forward ? Subset(all.begin(), all.begin() + size)
                                                             : Subset(all.end() - size, all.end());
  }

  std::optional<Subset> of_one_end(const Subset& all) {
    if (request_.is_linear) {
      for (size_t count = 1; count <= all.size(); ++count) {
        if (passes(end_of(all, count), all.size() - count)) return end_of(all, count);
      }
      require_verdict();
      return std::nullopt;
    }
    if (!surely_passes(all)) return std::nullopt;
    size_t bad = 0, good = all.size();
    while (good - bad > 1) {
      const size_t middle = bad + (good - bad) / 2;
      (passes(end_of(all, middle), std::bit_width(good - bad)) ? good : bad) = middle;
    }
    return end_of(all, good);
  }

  // All layers in float32 must have a verdict.
  bool surely_passes(const Subset& all) {
    const bool has_passed = passes(all);
    require_verdict();
    return has_passed;
  }

  void require_verdict() {
    const std::string& fault = loop_.last_iteration().fault;
    if (fault.empty()) return;
    fail(ErrorCode::unsupported, "the model with all layers in float32 cannot be judged: {}", fault);
  }

  bool passes(const Subset& kept, std::optional<uint64_t> remaining = std::nullopt) {
    const std::string subject = fmt::format("{} of {} layers in float32", kept.size(), parts_.count());
    Trial trial{.subject = subject,
                .identity = fmt::format("{} {}", command_identity(request_.check), fmt::join(kept, ","))};
    if (comparing_)
      trial.passes = [&] { return !comparing_->fails(converted(kept).model); };
    else
      trial.make = [&](const std::string& path) { make(kept, path); };
    return loop_.judge(trial, remaining) == Verdict::passes;
  }

  ConvertOutcome converted(const Subset& kept) const {
    convert::LayerChoice choice;
    for (const uint32_t part : kept) choice.kept.emplace(parts_.node(part), kStays);
    ConvertRequest request{.inputs = request_.inputs};
    request.edit.model = {.path = request_.model.path, .model = &model_};
    if (kept.size() < parts_.count()) {
      if (request_.low == LowPrecision::int8) {
        Int8Request wanted{.options = {.choice = std::move(choice)}, .backend = "ref"};
        set_calibrator(minmax(), wanted);
        request.conversion = std::move(wanted);
      } else {
        const bool is_half = request_.low == LowPrecision::float16;
        request.conversion = HalfRequest{
            .options = {.half = is_half ? tensor::DType::float16 : tensor::DType::bfloat16, .choice = choice}};
      }
    }
    Observer quiet;
    return convert(request, quiet);
  }

  void make(const Subset& kept, const std::string& path) const {
    ir::Model model = converted(kept).model;
    surgery::complete_outputs(model);
    if (path.ends_with(".onnx")) {
      onnx::save(model, path);
      return;
    }
    Diagnostics ignored;
    exec::plan_builder()->build_plan(model, request_.comparison.session, path, ignored);
  }

  void finish(const Subset& kept) {
    for (const uint32_t part : kept) {
      const ir::NodeId node = parts_.node(part);
      report_.kept.push_back({std::string(ir::known_name(model_, node)), std::string(model_.text(model_[node].op))});
    }
    ConvertOutcome outcome = converted(kept);
    note_layers(outcome.report);
    if (request_.output.empty()) return;
    save_model(outcome.model, request_.output, request_.save, observer_);
    report_.output = request_.output;
  }

  void note_layers(const results::ConversionReport& conversion) {
    for (const results::ConvertedLayer& layer : conversion.layers) {
      const bool stays_by_itself = !layer.reason.empty() && layer.reason != kStays;
      report_.converted_count += layer.reason.empty() ? 1 : 0;
      if (stays_by_itself && request_.low != LowPrecision::int8) report_.unconverted.push_back({layer.name, layer.op});
    }
  }

  const PrecisionRequest request_;
  const ir::Model& model_;
  Observer& observer_;
  debug::Parts parts_;
  ObservedValues values_;
  CheckLoop loop_;
  std::optional<ComparingJudge> comparing_;
  results::PrecisionReport report_;
};

}  // namespace

results::PrecisionReport debug_precision(const PrecisionRequest& request, Observer& observer) {
  const Stopwatch total;
  const TaskThreads threads(request.comparison.session.threads);
  const Subject subject = open_subject(request.model, request.inputs, observer, [&](LoadedModel& loaded) {
    infer_shapes(loaded);
    set_interface(request.interface, loaded);
  });
  results::PrecisionReport report = PrecisionSearch(request, subject, observer).run();
  report.timings = {{"load_seconds", subject.loaded.load_seconds}, {"total_seconds", total.seconds()}};
  return report;
}

}  // namespace assay::tasks
