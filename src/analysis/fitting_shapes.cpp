#include "analysis/fitting_shapes.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <set>

#include "analysis/wanted_sizes.h"
#include "base/error.h"
#include "exec/signature.h"

namespace assay::analysis {
namespace {

constexpr size_t kMostTrials = 400;
constexpr size_t kLeastTrials = 24;
constexpr size_t kMostNodes = 1'000'000;  // in all trials, about
constexpr size_t kMostRuns = 16;
constexpr size_t kMostRounds = 8;
constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

using Sizes = std::vector<int64_t>;  // of open dims, by number

// An input, and the numbers of its open dims; kNowhere: the dim is fixed.
struct OpenInput {
  const exec::Port* port;
  ir::ValueId value;
  tensor::Shape fixed;
  std::vector<size_t> dims;

  tensor::Shape shape(const Sizes& sizes) const {
    tensor::Shape all = fixed;
    for (size_t i = 0; i < all.size(); ++i) {
      if (dims[i] != kNowhere) all[i] = sizes[dims[i]];
    }
    return all;
  }
  bool is_open() const {
    return std::ranges::any_of(dims, [](size_t dim) { return dim != kNowhere; });
  }
};

// The progress of a model. Later is better: first the shapes of all nodes must fit, then they must run.
struct Progress {
  bool has_run = false;
  size_t place = 0;  // of the first node that fails, in the main graph; kNowhere: none does
  auto operator<=>(const Progress&) const = default;
  bool is_through() const { return has_run && place == kNowhere; }
};

struct Trial {
  Sizes sizes;
  Progress progress;
  std::string fault;            // of the first node that fails, without numbers
  std::vector<int64_t> wanted;  // sizes that the node speaks of which failed
};

std::string without_numbers(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

class Search {
 public:
  Search(const ir::Model& model, const exec::GenerateOptions& options, const ops::InterpreterOptions& limits)
      : model_(model), options_(options), limits_(limits), signature_(exec::signature_of(model)) {
    account_ = ops::account_of(limits);
    limits_.account = &account_;
    find_inputs();
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) places_.emplace(node, places_.size());
    trials_left_ = std::clamp(kMostNodes / (places_.size() + 1), kLeastTrials, kMostTrials);
  }

  std::vector<exec::InputShape> run() {
    if (count_ == 0) return {};
    ops::Inference declared(model_);
    declared.run();
    for (const ops::InferenceFinding& finding : declared.findings()) faulty_.insert(finding.node);
    best_ = try_sizes(Sizes(count_, 1));
    seen_.insert({best_.progress.place, best_.fault});
    if (!best_.progress.is_through()) search();
    return shapes(best_.sizes);
  }

 private:
  using Group = std::vector<size_t>;  // of open dims that get one size

  void find_inputs() {
    std::map<std::string, size_t> by_name;
    for (const exec::Port& port : signature_.inputs) {
      if (port.has_default) continue;
      OpenInput input{&port, input_value(port.name), exec::asked_shape(port, options_).value_or(tensor::Shape()), {}};
      for (size_t i = 0; i < input.fixed.size(); ++i) {
        input.dims.push_back(input.fixed[i] < 0 ? number_of(port, i, by_name) : kNowhere);
      }
      inputs_.push_back(std::move(input));
    }
    count_ = firsts_.size();
    find_groups();
  }

  // Dims without a name are each their own.
  size_t number_of(const exec::Port& port, size_t dim, std::map<std::string, size_t>& by_name) {
    const std::string text = port.type && dim < port.type->dims.size() ? port.type->dims[dim].text : "?";
    const std::string name = text.empty() || text == "?" ? fmt::format("{}\n{}", port.name, dim) : text;
    const auto [found, is_new] = by_name.emplace(name, firsts_.size());
    if (is_new) firsts_.push_back(true);
    const bool is_first = dim == 0 && port.type && port.type->dims.size() > 1;
    firsts_[found->second] = firsts_[found->second] && is_first;
    return found->second;
  }

  // All dims but the first ones; each alone and with its neighbours; the first ones at last.
  void find_groups() {
    Group others, firsts;
    for (size_t i = 0; i < count_; ++i) (firsts_[i] ? firsts : others).push_back(i);
    if (!others.empty()) groups_.push_back(others);
    for (const size_t length : {1, 2, 3}) {
      for (const OpenInput& input : inputs_) add_neighbours(input, length);
    }
    for (const size_t first : firsts) groups_.push_back({first});
  }

  void add_neighbours(const OpenInput& input, size_t length) {
    for (size_t begin = 0; begin + length <= input.dims.size(); ++begin) {
      Group group(input.dims.begin() + static_cast<std::ptrdiff_t>(begin),
                  input.dims.begin() + static_cast<std::ptrdiff_t>(begin + length));
      const auto is_kept = [&](size_t dim) { return dim != kNowhere && !firsts_[dim]; };
      if (std::ranges::all_of(group, is_kept) && std::ranges::find(groups_, group) == groups_.end())
        groups_.push_back(std::move(group));
    }
  }

  ir::ValueId input_value(std::string_view name) const {
    for (const ir::ValueId input : model_[model_.main_graph()].inputs) {
      if (model_.text(model_[input].name) == name) return input;
    }
    return {};
  }

  // Each round sets one group of dims to the size with which the model comes farthest.
  void search() {
    const std::vector<int64_t> usual = usual_sizes(model_);
    for (size_t round = 0; round < kMostRounds; ++round) {
      std::vector<int64_t> sizes = {1};
      std::ranges::set_union(usual, best_.wanted, std::back_inserter(sizes));
      const Sizes before = best_.sizes;
      for (const Group& group : groups_) {
        if (try_group(group, sizes)) return;
        if (best_.sizes != before) break;
      }
      if (best_.sizes == before) return;
    }
  }

  // True: the search is over.
  bool try_group(const Group& group, std::span<const int64_t> choices) {
    const Sizes from = best_.sizes;
    for (const int64_t size : choices) {
      Sizes sizes = from;
      for (const size_t dim : group) sizes[dim] = size;
      if (!tried_.insert(sizes).second) continue;
      if (trials_left_ == 0 || runs_ == kMostRuns) return true;
      Trial trial = try_sizes(sizes);
      if (is_better(trial)) best_ = std::move(trial);
      if (best_.progress.is_through()) return true;
    }
    return false;
  }

  // True if the trial comes farther, or fails at the same node in a way that was not seen yet: it may have passed one
  // of its rules.
  bool is_better(const Trial& trial) {
    if (trial.progress != best_.progress) return trial.progress > best_.progress;
    return trial.fault != best_.fault && seen_.insert({trial.progress.place, trial.fault}).second;
  }

  Trial try_sizes(const Sizes& sizes) {
    tried_.insert(sizes);
    trials_left_ -= trials_left_ > 0 ? 1 : 0;
    ops::Inference inference(model_, types(sizes));
    inference.run();
    Trial trial{sizes, {false, kNowhere}, {}, {}};
    ir::NodeId failed;
    for (const ops::InferenceFinding& finding : inference.findings()) {
      const size_t place = place_of(finding.node);
      if (finding.code != "shape" || faulty_.contains(finding.node) || place >= trial.progress.place) continue;
      trial.progress.place = place;
      trial.fault = without_numbers(finding.message);
      failed = finding.node;
    }
    if (!failed) {
      trial.progress.has_run = true;
      failed = first_failure(sizes);
      if (failed) trial.progress.place = place_of(failed);
    }
    if (failed) trial.wanted = sizes_at(model_, inference, failed);
    return trial;
  }

  // The first node that fails in a run, for another reason than limits; none: it runs, as far as that is known.
  ir::NodeId first_failure(const Sizes& sizes) {
    ++runs_;
    exec::GenerateOptions options = options_;
    const std::vector<exec::InputShape> own = shapes(sizes);
    options.shapes.insert(options.shapes.begin(), own.begin(), own.end());
    ir::NodeId failed;
    const auto note = [&](ir::NodeId node, const Error& error) {
      if (error.code() == ErrorCode::unsupported || faulty_.contains(node)) return true;
      if (error.code() != ErrorCode::limit) failed = node;
      return false;
    };
    const ops::FailureSink failures(note);
    const auto done = attempt([&] {
      std::vector<ops::InputDatum> data;
      Diagnostics ignored;
      for (exec::Feed& feed : exec::generate_inputs(signature_, options, ignored))
        data.push_back({input_value(feed.name), std::move(feed.value)});
      ops::Interpreter(model_, limits_)
          .run(
              data, {}, [](ir::ValueId, const tensor::Datum&) {}, &failures);
      return true;
    });
    const Error* const error = std::get_if<Error>(&done);
    if (error != nullptr && error->code() == ErrorCode::cancelled) throw *error;
    if (error != nullptr && !failed) runs_ = kMostRuns;  // too much is needed, and larger sizes would need more
    return failed;
  }

  // A node of a body stands where the node with the body does; one of a function, nowhere in particular.
  size_t place_of(ir::NodeId node) const {
    const auto found = places_.find(model_.ancestor_in(node, model_.main_graph()));
    return found == places_.end() ? 0 : found->second;
  }

  ops::InputTypes types(const Sizes& sizes) const {
    ops::InputTypes types;
    for (const OpenInput& input : inputs_) {
      const tensor::Shape shape = input.shape(sizes);
      if (!input.value || !input.port->type || input.port->type->kind != ir::TypeKind::tensor) continue;
      types.emplace(input.value, ops::Type::tensor(input.port->type->dtype, ops::Dims(shape.begin(), shape.end())));
    }
    return types;
  }

  std::vector<exec::InputShape> shapes(const Sizes& sizes) const {
    std::vector<exec::InputShape> all;
    for (const OpenInput& input : inputs_) {
      if (input.is_open()) all.push_back({input.port->name, input.shape(sizes)});
    }
    return all;
  }

  const ir::Model& model_;
  const exec::GenerateOptions& options_;
  ops::InterpreterOptions limits_;
  const exec::Signature signature_;
  ops::RunAccount account_;  // of all runs
  std::vector<OpenInput> inputs_;
  std::vector<bool> firsts_;  // by number: the dim is only ever a first one
  size_t count_ = 0;          // of open dims
  std::vector<Group> groups_;
  std::map<ir::NodeId, size_t> places_;
  std::set<ir::NodeId> faulty_;  // whatever sizes are
  std::set<Sizes> tried_;
  std::set<std::pair<size_t, std::string>> seen_;  // places and faults
  size_t trials_left_ = 0;
  size_t runs_ = 0;
  Trial best_;
};

}  // namespace

std::vector<exec::InputShape> fitting_shapes(const ir::Model& model, const exec::GenerateOptions& options,
                                             const ops::InterpreterOptions& limits) {
  return Search(model, options, limits).run();
}

}  // namespace assay::analysis
