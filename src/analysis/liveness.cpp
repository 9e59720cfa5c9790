#include "analysis/liveness.h"

#include <algorithm>
#include <set>

#include "analysis/cost.h"
#include "ir/queries.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "ops/traits.h"

namespace assay::analysis {
namespace {

constexpr size_t kListedValues = 5;

}  // namespace

Liveness::Liveness(const ir::Model& model) : model_(model) { schedule(model.main_graph()); }

// The value whose memory it is: that before nodes which only change dims.
ir::ValueId Liveness::memory_of(ir::ValueId value) const {
  while (value.valid()) {
    const ir::NodeId node = ir::producer(model_, value);
    if (!node.valid()) return value;
    const ops::Traits& traits = ops::traits(model_, node);
    if (!traits.is_reshape() && !(traits.is_identity && !model_[node].operands.empty())) return value;
    const ir::ValueId source = ir::operand(model_, node, 0);
    if (!source.valid() || model_[source].graph != model_[value].graph) return value;
    value = source;
  }
  return value;
}

void Liveness::schedule(ir::GraphId graph) {
  Schedule steps;
  std::map<ir::ValueId, size_t> last;  // use
  for (const ir::NodeId node : ir::nodes(model_, graph)) {
    Step& step = steps.emplace_back();
    step.node = node;
    for (const ir::ValueId result : model_[node].results) {
      if (!result.valid() || memory_of(result) != result) continue;
      step.made.push_back(result);
      last[result] = steps.size() - 1;
    }
    const auto use = [&](ir::ValueId value) {
      const auto found = last.find(memory_of(value));
      if (found != last.end()) found->second = steps.size() - 1;
    };
    ir::for_each_operand(model_, node, use);
    for (const ir::GraphId body : model_.bodies(model_[node])) schedule(body);
  }
  for (const ir::Use& use : model_.outputs(graph)) {
    if (use.value.valid()) last.erase(memory_of(use.value));
  }
  for (const auto& [value, step] : last) steps[step].freed.push_back(value);
  schedules_.emplace(graph, std::move(steps));
}

std::pair<int64_t, PeakPath> Liveness::peak_of(const ops::Inference& types, ir::GraphId graph) const {
  const auto bytes = [&](ir::ValueId value) { return value_bytes(model_, types, value).number().value_or(0); };
  int64_t now = 0;
  int64_t most = -1;
  PeakPath path;
  for (const Step& step : schedules_.at(graph)) {
    for (const ir::ValueId value : step.made) now += bytes(value);
    int64_t inside = 0;
    PeakPath inner;
    for (const ir::GraphId body : model_.bodies(model_[step.node])) {
      auto [bytes_inside, path_inside] = peak_of(types, body);
      if (bytes_inside <= inside) continue;
      inside = bytes_inside;
      inner = std::move(path_inside);
    }
    if (now + inside > most) {
      most = now + inside;
      path = {step.node};
      path.insert(path.end(), inner.begin(), inner.end());
    }
    for (const ir::ValueId value : step.freed) now -= bytes(value);
  }
  return {most, path};
}

PeakPath Liveness::peak(const ops::Inference& types) const { return peak_of(types, model_.main_graph()).second; }

std::vector<ir::ValueId> Liveness::alive(const PeakPath& path) const {
  std::vector<ir::ValueId> values;
  for (const ir::NodeId place : path) {
    std::set<ir::ValueId> here;
    for (const Step& step : schedules_.at(model_[place].graph)) {
      here.insert(step.made.begin(), step.made.end());
      if (step.node == place) break;
      for (const ir::ValueId value : step.freed) here.erase(value);
    }
    values.insert(values.end(), here.begin(), here.end());
  }
  return values;
}

ops::Dim Liveness::bytes_at(const ops::Inference& types, const PeakPath& path) const {
  ops::Dim sum = 0;
  for (const ir::ValueId value : alive(path)) {
    const ops::Dim bytes = value_bytes(model_, types, value);
    if (!bytes.is_unknown()) sum = sum + bytes;
  }
  return sum;
}

results::MemoryPeak Liveness::at(const ops::Inference& types, const PeakPath& path) const {
  results::MemoryPeak peak;
  peak.bytes = bytes_at(types, path).text();
  if (!path.empty()) peak.node = ir::describe(model_, path.back());
  std::vector<std::pair<ops::Dim, ir::ValueId>> values;
  for (const ir::ValueId value : alive(path)) {
    const ops::Dim bytes = value_bytes(model_, types, value);
    if (!bytes.is_unknown() && !bytes.is(0)) values.emplace_back(bytes, value);
  }
  std::ranges::stable_sort(values, [](const auto& a, const auto& b) {
    const bool is_larger = (a.first - b.first).is_non_negative();
    return is_larger && !a.first.equals(b.first);
  });
  for (size_t i = 0; i < std::min(values.size(), kListedValues); ++i) {
    const auto& [bytes, value] = values[i];
    peak.largest.push_back({std::string(model_.text(model_[value].name)), bytes.text()});
  }
  return peak;
}

uint64_t Liveness::unknown_values(const ops::Inference& types) const {
  uint64_t count = 0;
  for (const auto& [graph, steps] : schedules_) {
    for (const Step& step : steps) {
      count += static_cast<uint64_t>(std::ranges::count_if(
          step.made, [&](ir::ValueId value) { return value_bytes(model_, types, value).is_unknown(); }));
    }
  }
  return count;
}

}  // namespace assay::analysis
