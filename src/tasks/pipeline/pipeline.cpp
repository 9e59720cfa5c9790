#include "tasks/pipeline.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/read_text.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "exec/feeds.h"
#include "formats/pipeline_file.h"
#include "tasks/generation/feeds.h"

namespace assay::tasks {
namespace {

using formats::PipelineStage;
using formats::StageFeed;
using results::Verdict;

// Outputs of one side so far, by stage.
using GivenByStage = std::map<std::string, tensor::NamedData>;

std::vector<std::string> names_of(const std::vector<exec::Port>& ports) {
  std::vector<std::string> names;
  for (const exec::Port& port : ports) names.push_back(port.name);
  return names;
}

// Stages with the signatures of their models, all read and checked before any runs.
struct Plan {
  std::vector<PipelineStage> stages;
  std::vector<exec::Signature> signatures;
};

[[noreturn]] void fail_name(const PipelineStage& stage, std::string_view what, const std::string& name,
                            const std::vector<std::string>& known) {
  const std::optional<std::string> near = did_you_mean(name, known);
  fail(ErrorCode::usage, "line {}: stage `{}`: there is no {} `{}`{}", stage.line, printable(stage.name), what,
       printable(name), near ? fmt::format("; did you mean `{}`?", printable(*near)) : "");
}

void check_feeds_of(const Plan& plan, size_t number) {
  const PipelineStage& stage = plan.stages[number];
  for (const StageFeed& feed : stage.feeds) {
    if (exec::find_port(plan.signatures[number].inputs, feed.input) == nullptr)
      fail_name(stage, "input", feed.input, names_of(plan.signatures[number].inputs));
    const auto source = std::ranges::find(plan.stages, feed.stage, &PipelineStage::name) - plan.stages.begin();
    const std::vector<exec::Port>& outputs = plan.signatures[static_cast<size_t>(source)].outputs;
    if (exec::find_port(outputs, feed.output) == nullptr)
      fail_name(stage, fmt::format("output of stage `{}`", printable(feed.stage)), feed.output, names_of(outputs));
  }
}

// Inputs without a feed are fed from the last stage before that has an output of their name.
void add_feeds_by_name(Plan& plan, size_t number) {
  PipelineStage& stage = plan.stages[number];
  for (const exec::Port& input : plan.signatures[number].inputs) {
    if (std::ranges::find(stage.feeds, input.name, &StageFeed::input) != stage.feeds.end()) continue;
    for (size_t before = number; before-- > 0;) {
      if (exec::find_port(plan.signatures[before].outputs, input.name) == nullptr) continue;
      stage.feeds.push_back({input.name, plan.stages[before].name, input.name});
      break;
    }
  }
}

Plan open_plan(const PipelineRequest& request, Observer& observer) {
  Plan plan;
  with_frame([&] { return fmt::format("loading `{}`", printable(request.path)); },
             [&] { plan.stages = formats::parse_pipeline(read_text(request.path)); });
  const std::filesystem::path folder = std::filesystem::path(request.path).parent_path();
  for (PipelineStage& stage : plan.stages) {
    stage.model = folder / stage.model;
    ModelSource source = request.run.model;
    source.path = stage.model;
    plan.signatures.push_back(exec::signature_of(load_model(source, observer).model));
  }
  for (size_t i = 0; i < plan.stages.size(); ++i) {
    check_feeds_of(plan, i);
    add_feeds_by_name(plan, i);
  }
  return plan;
}

class PipelineRunner {
 public:
  PipelineRunner(const PipelineRequest& request, Observer& observer)
      : request_(request), observer_(observer), plan_(open_plan(request, observer)) {
    report_.path = request.path;
  }

  results::PipelineReport run() {
    read_given();
    for (size_t i = 0; i < plan_.stages.size(); ++i) {
      run_stage(i);
      if (report_.stages.back().run.verdict == Verdict::undecided) break;
    }
    settle_verdict();
    save_inputs();
    return std::move(report_);
  }

 private:
  void read_given() {
    InputRequest inputs = request_.run.inputs;
    if (inputs.is_generated()) return;
    inputs.casts = inputs.fits = false;  // stages do
    const InputData data = make_inputs(ir::Model(), inputs, observer_, findings_);
    if (std::optional<tensor::NamedData> first = data.source->get(0)) given_ = std::move(*first);
  }

  // Inputs of a stage on one side: from stages before, from what the user gives, by `stage.input` or its plain name,
  // and generated.
  tensor::NamedData inputs_of(size_t number, GivenByStage& outputs) {
    const PipelineStage& stage = plan_.stages[number];
    tensor::NamedData inputs;
    exec::Signature open;
    for (const exec::Port& port : plan_.signatures[number].inputs) {
      const auto feed = std::ranges::find(stage.feeds, port.name, &StageFeed::input);
      const tensor::Datum* datum = feed == stage.feeds.end() ? nullptr : find_datum(outputs[feed->stage], feed->output);
      if (feed != stage.feeds.end() && datum == nullptr)
        fail(ErrorCode::unsupported, "stage `{}` gave no `{}`", printable(feed->stage), printable(feed->output));
      if (datum == nullptr) datum = find_datum(given_, stage.name + "." + port.name);
      if (datum == nullptr) datum = find_datum(given_, port.name);
      if (datum != nullptr)
        inputs.push_back({port.name, *datum});
      else if (!port.has_default)
        open.inputs.push_back(port);
    }
    if (open.inputs.empty()) return inputs;
    if (!request_.run.inputs.is_generated())
      fail(ErrorCode::usage, "input `{}` of stage `{}` is not given", printable(open.inputs[0].name),
           printable(stage.name));
    for (exec::Feed& feed : exec::generate_inputs(open, request_.run.inputs.generated, findings_))
      inputs.push_back(std::move(feed));
    return inputs;
  }

  RunRequest request_for(size_t number, tensor::NamedData inputs) const {
    RunRequest run = request_.run;
    run.model.path = plan_.stages[number].model;
    run.inputs = {};
    run.inputs.casts = request_.run.inputs.casts;
    run.inputs.search = request_.run.inputs.search;
    run.inputs.data = {std::move(inputs)};
    run.save_inputs.clear();
    run.keeps_outputs = true;
    return run;
  }

  void run_stage(size_t number) {
    const PipelineStage& stage = plan_.stages[number];
    observer_.info(fmt::format("Stage `{}`: {}", printable(stage.name), printable(stage.model)));
    tensor::NamedData inputs = inputs_of(number, outputs_[0]);
    RunOutcome outcome = tasks::run(request_for(number, inputs), observer_);
    results::StageReport& report = report_.stages.emplace_back();
    report.name = stage.name;
    const bool is_guilty = outcome.report.verdict == Verdict::different && report_.first_guilty.empty();
    if (is_guilty) report_.first_guilty = stage.name;
    if (is_guilty) guilty_inputs_ = inputs;
    for (size_t side = 0; side < request_.run.backends.size(); ++side) {
      const bool has_run = side < outcome.outputs.size() && !outcome.outputs[side].iterations.empty();
      if (!has_run) continue;
      if (side > 0 && number > 0) run_chained(number, side, outcome.outputs[0], report);
      if (side == 0 || number == 0) outputs_[side][stage.name] = outcome.outputs[side].iterations[0].outputs;
    }
    report.run = std::move(outcome.report);
  }

  // A side on what it made itself, compared with the first side.
  void run_chained(size_t number, size_t side, const formats::SavedRun& first, results::StageReport& report) {
    GivenByStage& own = outputs_[side];
    RunRequest run = request_for(number, inputs_of(number, own));
    run.backends = {request_.run.backends[side]};
    run.given_outputs = {first};
    RunOutcome outcome = tasks::run(std::move(run), observer_);
    if (!outcome.outputs.empty() && !outcome.outputs[0].iterations.empty())
      own[plan_.stages[number].name] = outcome.outputs[0].iterations[0].outputs;
    const Verdict verdict = outcome.report.verdict;
    if (verdict != Verdict::equal && report.chained_verdict != Verdict::different) report.chained_verdict = verdict;
    for (results::PairComparison& pair : outcome.report.pairs) report.chained.push_back(std::move(pair));
  }

  void settle_verdict() {
    for (const results::StageReport& stage : report_.stages) {
      for (const Verdict verdict : {stage.run.verdict, stage.chained_verdict}) {
        if (verdict == Verdict::equal || report_.verdict == Verdict::different) continue;
        report_.verdict = verdict;
      }
    }
  }

  void save_inputs() {
    if (request_.run.save_inputs.empty() || report_.first_guilty.empty()) return;
    observer_.info("Saving inference input data to " + printable(request_.run.save_inputs));
    formats::save_inputs(request_.run.save_inputs, {guilty_inputs_});
    report_.inputs = request_.run.save_inputs;
  }

  const PipelineRequest& request_;
  Observer& observer_;
  Plan plan_;
  Diagnostics findings_;
  tensor::NamedData given_;                 // by the user
  std::map<size_t, GivenByStage> outputs_;  // by number of the side
  tensor::NamedData guilty_inputs_;
  results::PipelineReport report_;
};

}  // namespace

bool is_pipeline(const std::string& path) {
  const std::string extension = to_lower(std::filesystem::path(path).extension().string());
  return extension == ".yaml" || extension == ".yml";
}

results::PipelineReport run_pipeline(const PipelineRequest& request, Observer& observer) {
  const Stopwatch total;
  results::PipelineReport report = PipelineRunner(request, observer).run();
  report.timings = {{"total_seconds", total.seconds()}};
  return report;
}

}  // namespace assay::tasks
