#include "match/models/interface.h"

#include <map>
#include <optional>
#include <string_view>

#include "match/models/words.h"

namespace assay::match {

std::vector<ir::ValueId> inputs_of(const ir::Model& model) {
  std::vector<ir::ValueId> values;
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    values.push_back(model[input].constant ? ir::ValueId{} : input);
  }
  return values;
}

std::vector<ir::ValueId> outputs_of(const ir::Model& model) {
  std::vector<ir::ValueId> values;
  for (const ir::Use& use : model.outputs(model.main_graph())) values.push_back(use.value);
  return values;
}

namespace {

using ir::ValueId;
using Pairs = std::vector<std::pair<size_t, size_t>>;

// Positions of one side by some key; taken in order.
template <typename Key>
class Shelf {
 public:
  void put(const Key& key, size_t position) { places_[key].positions.push_back(position); }
  std::optional<size_t> take(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end() || found->second.taken == found->second.positions.size()) return {};
    return found->second.positions[found->second.taken++];
  }

 private:
  struct Place {
    std::vector<size_t> positions;
    size_t taken = 0;
  };
  std::map<Key, Place> places_;
};

std::pair<int, int> kind_of(const ir::Model& model, ValueId value) {
  if (model[value].constant) {
    return {static_cast<int>(ir::TypeKind::tensor), static_cast<int>(model[model[value].constant].tensor.dtype())};
  }
  const ir::TypeId type = model[value].type;
  if (!type) return {-1, -1};
  return {static_cast<int>(model[type].kind), static_cast<int>(model[type].dtype)};
}

class Pairing {
 public:
  Pairing(const ir::Model& a, const ir::Model& b) : a_(a), b_(b) {}

  Pairs run(const std::vector<ValueId>& values_a, const std::vector<ValueId>& values_b) {
    paired_a_.assign(values_a.size(), false);
    paired_b_.assign(values_b.size(), false);
    Pairs pairs;
    const auto name = [](const ir::Model& model, ValueId value) { return model.text(model[value].name); };
    add(values_a, values_b, name, pairs);
    add(values_a, values_b, kind_of, pairs);
    return pairs;
  }

 private:
  template <typename KeyOf>
  void add(const std::vector<ValueId>& values_a, const std::vector<ValueId>& values_b, KeyOf key_of, Pairs& pairs) {
    Shelf<decltype(key_of(a_, values_a[0]))> shelf;
    for (size_t i = 0; i < values_b.size(); ++i) {
      if (!paired_b_[i] && values_b[i]) shelf.put(key_of(b_, values_b[i]), i);
    }
    for (size_t i = 0; i < values_a.size(); ++i) {
      if (paired_a_[i] || !values_a[i]) continue;
      const std::optional<size_t> other = shelf.take(key_of(a_, values_a[i]));
      if (!other) continue;
      paired_a_[i] = paired_b_[*other] = true;
      pairs.emplace_back(i, *other);
    }
  }

  const ir::Model& a_;
  const ir::Model& b_;
  std::vector<bool> paired_a_;
  std::vector<bool> paired_b_;
};

void seed(const Pairs& pairs, std::vector<uint64_t>& a, std::vector<uint64_t>& b) {
  constexpr uint64_t kOnlyA = 1ULL << 40;
  constexpr uint64_t kOnlyB = 1ULL << 41;
  for (size_t i = 0; i < a.size(); ++i) a[i] = mix(kOnlyA, i);
  for (size_t i = 0; i < b.size(); ++i) b[i] = mix(kOnlyB, i);
  for (size_t i = 0; i < pairs.size(); ++i) a[pairs[i].first] = b[pairs[i].second] = mix(0, i);
}

}  // namespace

void match_interfaces(const ir::Model& a, const ir::Model& b, Matching& matching) {
  Pairing pairing(a, b);
  const std::vector<ValueId> inputs_a = inputs_of(a);
  const std::vector<ValueId> inputs_b = inputs_of(b);
  matching.inputs = pairing.run(inputs_a, inputs_b);
  matching.outputs = pairing.run(outputs_of(a), outputs_of(b));
  for (const auto& [i, j] : matching.inputs) matching.pair(inputs_a[i], inputs_b[j]);
}

std::pair<InterfaceSeeds, InterfaceSeeds> interface_seeds(const ir::Model& a, const ir::Model& b,
                                                          const Matching& matching) {
  std::pair<InterfaceSeeds, InterfaceSeeds> seeds;
  auto& [seeds_a, seeds_b] = seeds;
  seeds_a.inputs.resize(inputs_of(a).size());
  seeds_b.inputs.resize(inputs_of(b).size());
  seeds_a.outputs.resize(outputs_of(a).size());
  seeds_b.outputs.resize(outputs_of(b).size());
  seed(matching.inputs, seeds_a.inputs, seeds_b.inputs);
  seed(matching.outputs, seeds_a.outputs, seeds_b.outputs);
  return seeds;
}

}  // namespace assay::match
