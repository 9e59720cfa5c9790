#include "tasks/same.h"

#include <array>
#include <map>
#include <set>

#include "base/checksum.h"
#include "base/error.h"
#include "exec/backend.h"
#include "exec/feeds.h"
#include "ir/naming.h"
#include "remote/isolated_backend.h"
#include "tasks/debug/observed.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

// The bits of a value, in short.
uint64_t digest(const tensor::Datum& datum) {
  if (datum.is_sequence()) {
    uint64_t all = datum.items().size();
    for (const tensor::Datum& item : datum.items()) all = all * 31 + digest(item);
    return all;
  }
  if (!datum.is_tensor()) return 0;
  uint64_t all = 0;
  if (datum.tensor().dtype() == tensor::DType::string) {
    for (const std::string& text : datum.tensor().strings()) {
      all = all * 31 + checksum(std::as_bytes(std::span(text)));
    }
    return all;
  }
  return checksum(datum.tensor().bytes());
}

class DigestSink final : public exec::TensorSink {
 public:
  void accept(std::string_view name, const tensor::Datum& value) override {
    digests[std::string(name)] = digest(value);
  }
  std::map<std::string, uint64_t> digests;
};

constexpr std::array<unsigned, 3> kThreadCounts = {1, 2, 3};  // of the last runs

class SameRuns {
 public:
  SameRuns(const SameRequest& request, const ir::Model& model, std::vector<exec::Feed> feeds, Observer& observer)
      : request_(request), model_(model), feeds_(std::move(feeds)), observer_(observer) {
    std::set<std::string> outputs;
    for (const exec::Port& output : exec::signature_of(model).outputs) outputs.insert(output.name);
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
      for (const ir::ValueId value : model[node].results) {
        if (!value || model[value].name == ir::kEmpty) continue;
        names_.emplace_back(model.text(model[value].name));
        nodes_.push_back(node);
        if (!outputs.contains(names_.back())) options_.values.push_back(names_.back());
      }
    }
    const std::vector<std::string> values = std::move(options_.values);
    options_ = request.session;
    options_.values = values;
  }

  results::SameReport run() {
    Counter counter(observer_, "runs", request_.runs + kThreadCounts.size());
    report_.backend = request_.backend;
    report_.runs = request_.runs;
    const std::unique_ptr<exec::Session> session = prepare(options_);
    const std::unique_ptr<exec::Execution> execution = session->make_execution({});
    first_ = run_once(*session, *execution);
    report_.value_count = first_.size();
    counter.advance();
    for (uint64_t i = 2; i <= request_.runs; ++i) {
      compare(run_once(*session, *execution), i, 0);
      counter.advance();
    }
    uint64_t run = request_.runs;
    for (const unsigned threads : kThreadCounts) {
      compare(run_with(*session, threads), ++run, threads);
      counter.advance();
    }
    return std::move(report_);
  }

 private:
  std::unique_ptr<exec::Session> prepare(const exec::SessionOptions& options) {
    if (!backend_) {
      backend_ = request_.isolate ? remote::isolated_backend({request_.backend})
                                  : exec::find_backend(request_.backend, request_.session.search);
    }
    Diagnostics findings;
    std::unique_ptr<exec::Session> session = backend_->prepare(model_, options, findings);
    return session;
  }

  // Some backends give an execution threads of its own, which saves preparing the model once more.
  std::map<std::string, uint64_t> run_with(const exec::Session& session, unsigned threads) {
    const bool is_own = !request_.isolate && (backend_->name() == "engine" || backend_->name().starts_with("ref"));
    if (is_own) return run_once(session, *session.make_execution({.threads = threads}));
    exec::SessionOptions other = options_;
    other.threads = threads;
    const std::unique_ptr<exec::Session> made = prepare(other);
    return run_once(*made, *made->make_execution({}));
  }

  std::map<std::string, uint64_t> run_once(const exec::Session& session, exec::Execution& execution) const {
    std::vector<std::string> asked;
    for (const std::string& name : names_) {
      if (session.answer(name).kind != exec::TapAnswer::Kind::absent) asked.push_back(name);
    }
    DigestSink sink;
    execution.run(feeds_, asked, sink);
    return std::move(sink.digests);
  }

  void compare(const std::map<std::string, uint64_t>& digests, uint64_t run, unsigned threads) {
    for (size_t i = 0; i < names_.size(); ++i) {
      const auto before = first_.find(names_[i]);
      const auto now = digests.find(names_[i]);
      if (before == first_.end() || now == digests.end() || before->second == now->second) continue;
      if (!told_.insert(names_[i]).second) continue;
      report_.differences.push_back({names_[i], std::string(ir::known_name(model_, nodes_[i])),
                                     std::string(model_.text(model_[nodes_[i]].op)), run, threads});
    }
  }

  const SameRequest& request_;
  const ir::Model& model_;
  std::vector<exec::Feed> feeds_;
  Observer& observer_;
  exec::BackendPtr backend_;
  exec::SessionOptions options_;
  std::vector<std::string> names_;
  std::vector<ir::NodeId> nodes_;
  std::map<std::string, uint64_t> first_;
  std::set<std::string> told_;
  results::SameReport report_;
};

}  // namespace

results::SameReport debug_same(const SameRequest& request, Observer& observer) {
  const Stopwatch total;
  const TaskThreads threads(request.session.threads);
  LoadedModel loaded = load_model(request.model, observer);
  require_runnable(loaded);
  const tensor::NamedData inputs = make_first_inputs(loaded, request.inputs, observer);
  std::vector<exec::Feed> feeds = exec::check_feeds(exec::signature_of(loaded.model), inputs, loaded.findings);
  tell_findings(loaded.findings, observer);
  results::SameReport report = SameRuns(request, loaded.model, std::move(feeds), observer).run();
  report.model = request.model.path;
  report.timings = {{"load_seconds", loaded.load_seconds}, {"total_seconds", total.seconds()}};
  return report;
}

}  // namespace assay::tasks
