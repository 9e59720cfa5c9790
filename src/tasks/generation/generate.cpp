#include "tasks/generation/generate.h"

#include <algorithm>
#include <new>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "compare/runs/verdict.h"
#include "exec/sinks.h"
#include "tasks/generation/cache_error.h"
#include "tasks/generation/opening.h"
#include "tasks/generation/saved_steps.h"
#include "tasks/generation/steps.h"
#include "tasks/run/describe.h"
#include "tasks/run/sides.h"
#include "tensor/convert.h"

namespace assay::tasks {
namespace {

// Sides run one after the other, so that their threads do not disturb each other: the teacher, then the one that
// others are compared with, then these, each compared as it goes.
class Generator {
 public:
  Generator(const RunRequest& request, const RunSubject& subject, Sides& sides, Observer& observer)
      : request_(request),
        wanted_(*request.generation),
        subject_(subject),
        sides_(sides),
        observer_(observer),
        counter_(observer, "steps", wanted_.steps * sides.runners.size()),
        tokens_(sides.runners.size()),
        early_(sides.runners.size()),
        saved_(sides.runners.size()) {
    for (const exec::RunnerPtr& runner : sides.runners) {
      report_.runs.push_back({.runner = runner->name(), .is_live = runner->is_live()});
      runners_.push_back(runner->name());
    }
  }

  void run(Diagnostics& findings) {
    const ir::Model& model = subject_.loaded->model;
    const exec::Signature signature = exec::signature_of(model);
    InputRequest inputs = subject_.inputs;
    analysis::KnownFeeds known{wanted_.feeds, {}};
    if (!wanted_.prompt_model.empty()) {
      opening_ = open_opening(request_, signature, observer_);
      known = {given_behind(*opening_, signature, wanted_.feeds), opening_->feeds};
      inputs = inputs_behind(*opening_, signature);
    }
    rules_ = analysis::feed_rules(model, signature, known, findings);
    prompt_ = make_prompt(model, signature, rules_, inputs, wanted_.steps, observer_, findings);
    tell();
    for (const Diagnostic& finding : findings.all()) observer_.on_finding(finding);
    const std::vector<size_t> sides = order();
    for (const size_t side : sides) {
      if (!open(side, findings)) continue;
      sides_.runners[side]->is_live() ? decode(side) : read_saved(side);
      const bool runs_again = base_ == side && !request_.save_inputs.empty();
      if (side != sides.back() && !runs_again) close(side);
      if (wanted_.teacher == side && tokens_[side].size() < wanted_.steps) break;
    }
    for (size_t side = 0; side < early_.size() && !base_; ++side) begin_base(side);
    if (base_) join_steps(generation_, runners_, tokens_, *base_);
    if (request_.compare.fail_fast && generation_.first_divergence)
      generation_.steps.resize(generation_.first_divergence->step + 1);
  }

  RunOutcome take() {
    RunOutcome outcome;
    if (!request_.save_inputs.empty() && base_) save_inputs();
    if (!request_.save_outputs.empty()) save_outputs();
    outcome.save_failure = save_failure_;
    report_.generation = std::move(generation_);
    report_.verdict = compare::verdict(report_);
    outcome.report = std::move(report_);
    return outcome;
  }

 private:
  void tell() {
    generation_.prompt_tokens = prompt_.tokens;
    generation_.rows = StepFeeds(rules_, prompt_.inputs, prompt_.tokens).rows();
    generation_.feeds = rules_.told;
    generation_.kept = rules_.kept;
    if (wanted_.teacher) generation_.teacher = runners_[*wanted_.teacher];
  }

  std::vector<size_t> order() const {
    std::vector<size_t> order;
    if (wanted_.teacher) order.push_back(*wanted_.teacher);
    for (size_t i = 0; i < runners_.size(); ++i) {
      if (wanted_.teacher != i) order.push_back(i);
    }
    return order;
  }

  // Runs fn, which calls a runner; what it cannot do ends this side only. Returns false then.
  template <typename Fn>
  bool try_side(size_t number, Fn&& fn) {
    std::optional<Error> failure;
    try {
      fn();
      return true;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::cancelled) throw;
      failure = error;
    } catch (const std::bad_alloc&) {
      failure = Error(ErrorCode::limit, "out of memory").add_frame(runners_[number]);
    }
    results::RunnerRun& run = report_.runs[number];
    run.failure = failure->line();
    run.remedy = failure->remedy();
    run.is_input_bad = exit_status(failure->code()) == kExitUsage;
    close(number);
    observer_.on_runner_failed(run, *failure);
    return false;
  }

  // Wrong settings are a fault of the caller, and end everything.
  bool open(size_t number, Diagnostics& findings) {
    exec::Runner& runner = *sides_.runners[number];
    results::RunnerRun& run = report_.runs[number];
    observer_.on_runner_opening(run);
    const Stopwatch loading;
    std::optional<Error> misuse;
    const bool is_open = try_side(number, [&] {
      try {
        runner.open(findings);
        if (opening_ && runner.is_live()) opening_->sides.runners[number]->open(opening_->subject->findings());
      } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) throw;
        misuse = error;
      }
      if (misuse || !runner.is_live()) return;
      const exec::Runner& first = opening_ ? *opening_->sides.runners[number] : runner;
      for (const exec::Feed& feed : exec::check_feeds(first.signature(), first_inputs(), findings))
        run.inputs.push_back(describe(feed.name, feed.value));
    });
    if (misuse) throw Error(*misuse);
    if (!is_open) return false;
    run.load_seconds = loading.seconds();
    observer_.on_runner_opened(run, runner.description());
    return true;
  }

  void close(size_t side) {
    sides_.runners[side]->close();
    if (opening_ && sides_.runners[side]->is_live()) opening_->sides.runners[side]->close();
  }

  const tensor::NamedData& first_inputs() const { return opening_ ? opening_->prompt.inputs : prompt_.inputs; }

  // Inputs of a step, of the model that makes it.
  const tensor::NamedData& inputs_of(const StepFeeds& feeds) const {
    return opening_ && feeds.past() == 0 ? opening_->prompt.inputs : feeds.current();
  }

  // All outputs that the next step needs, by the names of the model of steps.
  double run_model(size_t side, const StepFeeds& feeds, tensor::NamedData& outputs) {
    exec::KeepingSink sink;
    std::vector<std::string> wanted = {rules_.scores};
    for (const analysis::CacheFeed& cache : rules_.caches) wanted.push_back(cache.output);
    const bool opens = opening_ && feeds.past() == 0;
    if (opens) wanted = {opening_->rules.scores};
    for (size_t i = 0; opens && i < opening_->feeds.size(); ++i) wanted.push_back(opening_->feeds[i].first);
    exec::Runner& runner = opens ? *opening_->sides.runners[side] : *sides_.runners[side];
    const std::optional<double> seconds = runner.run(report_.runs[side].iterations, inputs_of(feeds), wanted, sink);
    outputs = std::move(sink.values);
    if (opens) rename_outputs(*opening_, rules_, outputs);
    return seconds.value_or(0);
  }

  void decode(size_t side) {
    const bool is_base = !base_ && (side == 0 || wanted_.teacher != side);
    StepFeeds feeds(rules_, prompt_.inputs, prompt_.tokens);
    same_context_ = true;
    const size_t unread = prompt_.queue.size();
    const bool has_run = try_side(side, [&] {
      for (size_t round = 0; round < unread + wanted_.steps; ++round) {
        tensor::NamedData outputs;
        StepRecord record = run_step(side, feeds, outputs);
        if (round < unread) {
          feeds.advance(outputs, prompt_.queue[round]);
          continue;
        }
        const size_t step = round - unread;
        tokens_[side].push_back(record.scores.tokens);
        if (!request_.save_outputs.empty()) saved_[side].push_back(saved_step(rules_, record, runners_[side]));
        const bool is_last = step + 1 == wanted_.steps || is_lost(record, step);
        if (is_base && is_last) last_inputs_ = inputs_of(feeds);
        take_record(side, step, std::move(record), is_base);
        counter_.advance();
        if (is_last || (request_.compare.fail_fast && !same_context_)) break;
        feeds.advance(outputs, read_next(side, step));
      }
    });
    if (is_base) begin_base(side);
    if (has_run) observer_.on_runner_finished(report_.runs[side]);
  }

  StepRecord run_step(size_t side, const StepFeeds& feeds, tensor::NamedData& outputs) {
    results::RunnerRun& run = report_.runs[side];
    StepRecord record;
    record.seconds = run_model(side, feeds, outputs);
    const Stopwatch comparing;
    const tensor::Datum* logits = find_datum(outputs, rules_.scores);
    if (logits == nullptr || !logits->is_tensor())
      fail(ErrorCode::backend, "output `{}` was not given", printable(rules_.scores));
    record.scores = compare::next_scores(logits->tensor(), feeds.rows(), feeds.last_place());
    record.dtype = logits->tensor().dtype();
    record.read = find_datum(feeds.current(), rules_.ids)->tensor();
    record.written = written_parts(rules_.caches, outputs, feeds.past(), feeds.now());
    record.position = feeds.past() + feeds.now() - 1;
    report_.compare_seconds += comparing.seconds();
    if (run.iterations++ == 0) {
      for (const tensor::NamedDatum& output : outputs) run.outputs.push_back(describe(output.name, output.value));
    }
    run.run_seconds += record.seconds;
    return record;
  }

  // Steps that another run has saved.
  void read_saved(size_t side) {
    const uint64_t count = sides_.runners[side]->iterations().value_or(0);
    same_context_ = true;
    if (wanted_.teacher == side && count < wanted_.steps) {
      throw Error(ErrorCode::usage, fmt::format("`{}` has {} steps", printable(runners_[side]), count))
          .about("teacher");
    }
    const bool has_read = try_side(side, [&] {
      for (size_t step = 0; step < std::min(count, wanted_.steps); ++step) {
        exec::KeepingSink sink;
        const std::optional<double> seconds = sides_.runners[side]->run(step, {}, {}, sink);
        StepRecord record = step_of(rules_, sink.values, generation_.rows);
        record.seconds = seconds.value_or(0);
        report_.runs[side].run_seconds += record.seconds;
        ++report_.runs[side].iterations;
        tokens_[side].push_back(record.scores.tokens);
        take_record(side, step, std::move(record), false);
        counter_.advance();
      }
    });
    if (has_read) observer_.on_runner_finished(report_.runs[side]);
  }

  bool is_lost(const StepRecord& record, size_t step) {
    if (std::ranges::find(record.scores.tokens, -1) == record.scores.tokens.end()) return false;
    observer_.warning(fmt::format("the logits of step {} are not numbers: there is no next token", step));
    return true;
  }

  const std::vector<int64_t>& read_next(size_t side, size_t step) const {
    return tokens_[wanted_.teacher.value_or(side)][step];
  }

  // Keeps what is compared later, and compares what can be by now.
  void take_record(size_t side, size_t step, StepRecord record, bool is_base) {
    if (is_base || !base_)
      early_[side].push_back(std::move(record));
    else
      compare(side, step, record);
  }

  void begin_base(size_t side) {
    if (early_[side].empty()) return;
    base_ = side;
    base_records_ = std::move(early_[side]);
    for (size_t i = 0; i < base_records_.size(); ++i) {
      results::GenerationStep& step = generation_.steps.emplace_back();
      step.step = i;
      step.position = base_records_[i].position;
      step.seconds.assign(runners_.size(), 0);
      step.seconds[side] = base_records_[i].seconds;
    }
    for (size_t other = 0; other < early_.size(); ++other) {
      same_context_ = true;
      for (size_t i = 0; i < early_[other].size(); ++i) compare(other, i, early_[other][i]);
      early_[other].clear();
    }
  }

  void compare(size_t side, size_t step, const StepRecord& record) {
    if (step >= base_records_.size()) return;
    const Stopwatch comparing;
    check_context(side, step, record);
    results::StepSide found = compare_step(base_records_[step], record, rules_, same_context_);
    found.runner = runners_[side];
    const bool keeps_own = !wanted_.teacher || request_.compare.fail_fast;
    if (!found.top1_same && keeps_own) same_context_ = false;
    generation_.steps[step].seconds[side] = record.seconds;
    generation_.steps[step].sides.push_back(std::move(found));
    report_.compare_seconds += comparing.seconds();
  }

  // A saved run need not have read the tokens that are read here.
  void check_context(size_t side, size_t step, const StepRecord& record) {
    if (sides_.runners[side]->is_live() || has_read_same(base_records_[step], record)) return;
    if (step == 0) {
      throw Error(ErrorCode::usage, fmt::format("`{}` was saved with another prompt", printable(runners_[side])))
          .about("load_outputs");
    }
    same_context_ = false;
  }

  void save_outputs() {
    observer_.info("Saving inference results to " + printable(request_.save_outputs));
    formats::SavedRuns runs;
    for (size_t side = 0; side < saved_.size(); ++side) {
      if (!saved_[side].empty()) runs.push_back({runners_[side], std::move(saved_[side])});
    }
    const std::variant<std::monostate, Error> saved = attempt([&] {
      formats::save_results(request_.save_outputs, runs);
      return std::monostate();
    });
    if (const Error* error = std::get_if<Error>(&saved)) save_failure_ = *error;
  }

  // Inputs of the first side at the first divergence, for which it runs again so far.
  tensor::NamedData inputs_of_divergence() {
    StepFeeds feeds(rules_, prompt_.inputs, prompt_.tokens);
    const uint64_t rounds = prompt_.queue.size() + generation_.first_divergence->step;
    for (uint64_t round = 0; round < rounds; ++round) {
      tensor::NamedData outputs;
      run_step(*base_, feeds, outputs);
      const bool reads_prompt = round < prompt_.queue.size();
      feeds.advance(outputs, reads_prompt ? prompt_.queue[round] : read_next(*base_, round - prompt_.queue.size()));
    }
    return inputs_of(feeds);
  }

  // Values of the reference in float64 are stored wider than the model declares.
  void save_inputs() {
    const results::RunnerRun told = report_.runs[*base_];
    const std::variant<std::monostate, Error> saved = attempt([&] {
      tensor::NamedData inputs = generation_.first_divergence ? inputs_of_divergence() : last_inputs_;
      for (tensor::NamedDatum& input : inputs) {
        if (!input.value.is_tensor() || input.value.tensor().dtype() == input.value.declared()) continue;
        input.value = tensor::converted(input.value.tensor(), input.value.declared());
      }
      observer_.info("Saving inference input data to " + printable(request_.save_inputs));
      formats::save_inputs(request_.save_inputs, {inputs});
      return std::monostate();
    });
    report_.runs[*base_] = told;
    if (const Error* error = std::get_if<Error>(&saved)) save_failure_ = *error;
    if (!save_failure_ && generation_.first_divergence) generation_.first_divergence->inputs = request_.save_inputs;
  }

  const RunRequest& request_;
  const GenerationRequest& wanted_;
  const RunSubject& subject_;
  Sides& sides_;
  Observer& observer_;
  Counter counter_;
  std::vector<std::string> runners_;
  std::optional<Opening> opening_;  // that reads the prompt; none: the model of steps does
  analysis::FeedRules rules_;
  Prompt prompt_;
  std::vector<std::vector<std::vector<int64_t>>> tokens_;  // by side and step
  std::vector<std::vector<StepRecord>> early_;  // of sides that ran before the one that they are compared with
  std::vector<std::vector<formats::SavedIteration>> saved_;  // by side, where outputs are to be saved
  std::optional<size_t> base_;                               // the side that others are compared with
  std::vector<StepRecord> base_records_;
  bool same_context_ = true;  // of the side that is compared
  tensor::NamedData last_inputs_;
  results::Generation generation_;
  results::RunReport report_;
  std::optional<Error> save_failure_;
};

}  // namespace

RunOutcome generate(const RunRequest& request, Observer& observer) {
  const auto subject = std::make_shared<RunSubject>(open_subject(request, observer));
  const auto sides = std::make_shared<Sides>(open_sides(request, subject, observer));
  Generator generator(request, *subject, *sides, observer);
  generator.run(subject->findings());
  RunOutcome outcome = generator.take();
  outcome.report.model = request.model.path;
  outcome.report.findings = subject->findings().all();
  outcome.report.timings = {{"load_seconds", subject->loaded->load_seconds},
                            {"compare_seconds", outcome.report.compare_seconds}};
  outcome.sessions = sides;
  return outcome;
}

}  // namespace assay::tasks
