#include "tasks/sweep/unit_runner.h"

#include <algorithm>
#include <new>

#include <fmt/format.h>
#include <malloc.h>

#include "base/error.h"
#include "sweep/keys.h"
#include "tasks/sweep/sample_comparer.h"
#include "tasks/sweep/unit_work.h"

namespace assay::tasks {
namespace {

// Outputs that outlive the run.
class Collector final : public exec::TensorSink {
 public:
  void accept(std::string_view name, const tensor::Datum& value) override {
    outputs.push_back({std::string(name), detached(value)});
  }
  tensor::NamedData outputs;

 private:
  static tensor::Datum detached(const tensor::Datum& value) {
    if (!value.is_tensor() || value.tensor().dtype() == tensor::DType::string) return value;
    const tensor::Tensor& tensor = value.tensor();
    const Bytes bytes = tensor.bytes();
    return {tensor::Tensor(tensor.dtype(), tensor.shape(), tensor::make_owned({bytes.begin(), bytes.end()})),
            value.declared()};
  }
};

}  // namespace

// The units of one group at work.
class UnitRunner::Group {
 public:
  Group(UnitRunner& runner, const UnitGroup& group, const UnitListener& listener)
      : runner_(runner), group_(group), listener_(listener) {
    for (const size_t column : group.columns)
      works_.emplace_back(runner.plan_, sweep::UnitAt{group.model, column, group.shard});
  }

  void run() {
    const results::PlannedShard& shard = runner_.plan_.shards[group_.shard];
    guarded(works_, [&] {
      if (!shard.failure.empty()) throw Error(ErrorCode::usage, shard.failure);
      enter(group_.columns.front());
      const Stopwatch watch;
      model_ = &runner_.open(group_.model);
      works_.front().add_seconds(watch.seconds());
    });
    if (model_ != nullptr) open_sessions();
    for (uint64_t number = shard.begin; number < shard.end && is_any_alive(); ++number) run_sample(number);
    for (UnitWork& work : works_) {
      work.finish(runner_.metrics_, runner_.request_.folder,
                  [&](std::string_view output) { return model_->op_of(output); });
      listener_.on_unit(work.unit());
    }
  }

 private:
  // Failures end these works alone.
  template <typename Fn>
  void guarded(std::span<UnitWork> works, Fn&& fn) {
    try {
      fn();
    } catch (const Error& error) {
      for (UnitWork& work : works) work.fail(error);
    } catch (const std::bad_alloc&) {
      for (UnitWork& work : works) work.fail(Error(ErrorCode::limit, "out of memory"));
    }
  }

  bool is_any_alive() const { return std::ranges::any_of(works_, &UnitWork::is_alive); }
  bool is_compared() const { return works_.size() > 1 || works_.front().column() != 0; }

  void enter(size_t column) {
    if (entered_ == column) return;
    entered_ = column;
    listener_.on_column(column);
  }

  // Without a reference nothing can be decided about the others.
  void lose_reference(const Error& error) {
    for (UnitWork& work : works_) {
      if (work.column() == 0)
        work.fail(error);
      else
        work.fail(Error(error.code(), fmt::format("no reference: {}", error.line())));
    }
  }

  template <typename Fn>
  void with_reference(Fn&& fn) {
    try {
      fn();
    } catch (const Error& error) {
      lose_reference(error);
    } catch (const std::bad_alloc&) {
      lose_reference(Error(ErrorCode::limit, "out of memory"));
    }
  }

  void open_sessions() {
    with_reference([&] {
      enter(0);
      const Stopwatch watch;
      model_->runner(0);
      if (works_.front().column() == 0) works_.front().add_seconds(watch.seconds());
    });
    for (UnitWork& work : works_) {
      if (work.column() == 0 || !work.is_alive()) continue;
      guarded(std::span(&work, 1), [&] {
        enter(work.column());
        const Stopwatch watch;
        model_->runner(work.column());
        work.add_seconds(watch.seconds());
      });
    }
  }

  void run_sample(uint64_t number) {
    Sample sample;
    guarded(works_, [&] { sample = read_sample(number); });
    if (!is_any_alive()) return;
    tensor::NamedData reference;
    std::optional<double> seconds;
    with_reference([&] { reference = run_column(0, sample.feeds, seconds); });
    if (!is_any_alive()) return;
    std::optional<SampleComparer> comparer;
    if (is_compared()) guarded(works_, [&] { comparer.emplace(runner_.request_, *model_, sample, reference); });
    for (UnitWork& work : works_) {
      if (!work.is_alive()) continue;
      guarded(std::span(&work, 1), [&] { judge(work, sample, reference, comparer ? &*comparer : nullptr, seconds); });
    }
  }

  void judge(UnitWork& work, const Sample& sample, const tensor::NamedData& reference, SampleComparer* comparer,
             std::optional<double> seconds) {
    const Stopwatch watch;
    const bool is_reference = work.column() == 0;
    const tensor::NamedData outputs = is_reference ? reference : run_column(work.column(), sample.feeds, seconds);
    const sweep::SampleValues values{outputs, sample.labels, is_reference ? nullptr : &reference,
                                     runner_.request_.output, runner_.request_.label};
    work.add_sample(sample, is_reference ? nullptr : &comparer->compare(outputs));
    work.measure(values, runner_.metrics_, {seconds.value_or(0), runner_.host_.get()});
    work.add_seconds(watch.seconds() + (is_reference ? seconds.value_or(0) : 0));
  }

  Sample read_sample(uint64_t number) {
    Sample sample{number, {}, {}};
    tensor::NamedData all = model_->samples().read(number);
    for (tensor::NamedDatum& entry : all) {
      const bool is_input = exec::find_port(model_->signature().inputs, entry.name) != nullptr;
      (is_input ? sample.given : sample.labels).push_back(std::move(entry));
    }
    Diagnostics findings;
    sample.feeds = with_frame([&] { return fmt::format("sample {}", number); },
                              [&] { return fitting_feeds(sample.given, findings); });
    return sample;
  }

  std::vector<exec::Feed> fitting_feeds(const tensor::NamedData& given, Diagnostics& findings) const {
    if (!runner_.request_.casts) return exec::check_feeds(model_->signature(), given, findings);
    const exec::DataSourcePtr source = exec::cast_source(exec::saved_source({given}), model_->signature());
    return exec::check_feeds(model_->signature(), source->get(0).value(), findings);
  }

  tensor::NamedData run_column(size_t column, const std::vector<exec::Feed>& feeds, std::optional<double>& seconds) {
    enter(column);
    Collector sink;
    seconds = model_->runner(column).run(0, feeds, model_->outputs(), sink);
    return std::move(sink.outputs);
  }

  UnitRunner& runner_;
  const UnitGroup& group_;
  const UnitListener& listener_;
  std::vector<UnitWork> works_;
  OpenModel* model_ = nullptr;
  std::optional<size_t> entered_;
};

UnitRunner::UnitRunner(const SweepRequest& request, const results::SweepPlan& plan) : request_(request), plan_(plan) {
  for (const std::string& word : plan.metrics) {
    metrics_.emplace_back(word, sweep::make_metric(word));
    Observer nobody;
    if (sweep::is_script_metric(word) && !host_) host_ = make_python_host(request.session.search, 0, nobody);
  }
}

UnitRunner::~UnitRunner() = default;

OpenModel& UnitRunner::open(size_t model) {
  if (opened_ && opened_number_ == model) return *opened_;
  constexpr uint64_t kModelsBetween = 32;  // giving memory back takes as long as a tiny model
  opened_.reset();
  if (++opened_count_ % kModelsBetween == 0) malloc_trim(0);
  opened_ = std::make_unique<OpenModel>(request_, plan_, model);
  opened_number_ = model;
  return *opened_;
}

void UnitRunner::run(const UnitGroup& group, const UnitListener& listener) { Group(*this, group, listener).run(); }

}  // namespace assay::tasks
