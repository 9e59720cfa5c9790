#include "analysis/cache_pairs.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "ir/queries.h"
#include "ops/traits.h"

namespace assay::analysis {
namespace {

using exec::Port;
using exec::PortDim;

// Words of a name, in lower case, without those that tell an output from an input.
std::string stem(std::string_view name) {
  static const std::set<std::string, std::less<>> kSides = {
      "past", "present", "new", "updated", "next", "out", "output", "in", "input", "cache", "kv", "keyvalues"};
  std::string text = to_lower(name);
  constexpr std::string_view kPairWord = "key_values";
  if (const size_t at = text.find(kPairWord); at != std::string::npos) text.replace(at, kPairWord.size(), "keyvalues");
  std::ranges::replace_if(
      text, [](char c) { return c == '_' || c == '/' || c == ':'; }, '.');
  std::vector<std::string> words;
  for (const std::string_view word : split(text, '.')) {
    if (!word.empty() && !kSides.contains(word)) words.emplace_back(word);
  }
  return join(words, ".");
}

bool is_tensor(const Port& port) { return port.type && port.type->kind == ir::TypeKind::tensor; }

// True if a node gives the elements of its first operand, all of them, perhaps in another type or order of dims.
bool hands_on(const ir::Model& model, ir::NodeId node) {
  const ops::Traits& traits = ops::traits(model, node);
  return traits.is_cast() || traits.is_identity ||
         (traits.is(ops::Nature::movement) && traits.moves != ops::Moves::freely);
}

// True if a node writes a few positions of its first operand, from where its third says.
bool writes_positions(const ir::Model& model, ir::NodeId node) {
  const ops::Traits& traits = ops::traits(model, node);
  return traits.is(ops::Nature::movement) && traits.indices.contains(2);
}

// The value behind nodes that hand it on.
ir::ValueId origin_of(const ir::Model& model, ir::ValueId value) {
  constexpr int kMostMoves = 16;
  for (int i = 0; i < kMostMoves && value.valid(); ++i) {
    const ir::NodeId node = ir::producer(model, value);
    if (!node.valid() || !hands_on(model, node)) return value;
    value = ir::operand(model, node, 0);
  }
  return value;
}

// The input of the main graph whose elements a value holds; invalid: none.
ir::ValueId source_of(const ir::Model& model, ir::ValueId value) {
  const ir::ValueId origin = origin_of(model, value);
  return origin.valid() && model[origin].kind == ir::ValueKind::input ? origin : ir::ValueId{};
}

ir::ValueId output_value(const ir::Model& model, std::string_view name) {
  for (const ir::Use& use : model.outputs(model.main_graph())) {
    if (use.value.valid() && model.text(model[use.value].name) == name) return use.value;
  }
  return {};
}

// The inputs among `candidates` that go into the node which makes the output: of several, as of attention with a
// cache of keys and one of values, that of the result's place.
const Port* by_graph(const ir::Model& model, const Port& output, const std::vector<const Port*>& candidates) {
  const ir::ValueId origin = origin_of(model, output_value(model, output.name));
  const ir::NodeId node = ir::producer(model, origin);
  if (!node.valid()) return nullptr;
  const ops::Traits& traits = ops::traits(model, node);
  const uint32_t index = model[origin].index;
  const bool joins = traits.is(ops::Nature::movement) && traits.range == ops::ValueRange::all;
  const bool is_attention = traits.is(ops::Nature::product) && index > 0;
  if (!joins && !is_attention && !writes_positions(model, node)) return nullptr;
  std::vector<const Port*> found;
  for (const ir::Use& use : model[node].operands) {
    const ir::ValueId source = use.value.valid() ? source_of(model, use.value) : ir::ValueId{};
    if (!source.valid()) continue;
    const auto at = std::ranges::find(candidates, model.text(model[source].name), &Port::name);
    if (at != candidates.end() && may_become(output, **at)) found.push_back(*at);
  }
  if (found.size() == 1) return found[0];
  return is_attention && found.size() == 2 && index <= 2 ? found[index - 1] : nullptr;
}

class Pairing {
 public:
  Pairing(std::vector<const Port*> outputs, std::vector<const Port*> inputs)
      : outputs_(std::move(outputs)), inputs_(std::move(inputs)), order_(inputs_) {}

  void pair(const Port* output, const Port* input, std::string_view origin) {
    pairs_.found.push_back({output, input, origin});
    std::erase(outputs_, output);
    std::erase(inputs_, input);
  }

  void use_given(const std::vector<std::pair<std::string, std::string>>& given) {
    for (const auto& [output, input] : given) {
      const auto a = std::ranges::find(outputs_, output, &Port::name);
      const auto b = std::ranges::find(inputs_, input, &Port::name);
      if (a != outputs_.end() && b != inputs_.end()) pair(*a, *b, "given");
    }
  }

  void use_graph(const ir::Model& model) {
    for (const Port* output : std::vector(outputs_)) {
      if (const Port* input = by_graph(model, *output, inputs_)) pair(output, input, "graph");
    }
  }

  void use_names() {
    std::map<std::string, std::vector<const Port*>> by_stem;
    for (const Port* input : inputs_) {
      if (looks_like_cache(*input)) by_stem[stem(input->name)].push_back(input);
    }
    for (const Port* output : std::vector(outputs_)) {
      const auto found = by_stem.find(stem(output->name));
      if (found == by_stem.end() || found->second.size() != 1 || !may_become(*output, *found->second[0])) continue;
      pair(output, found->second[0], "name");
      by_stem.erase(found);
    }
  }

  void use_order() {
    const auto is_array = [](const Port* port) { return is_tensor(*port) && port->type->dims.size() >= 3; };
    std::vector<const Port*> from;
    std::vector<const Port*> to;
    std::ranges::copy_if(outputs_, std::back_inserter(from), is_array);
    std::ranges::copy_if(inputs_, std::back_inserter(to), is_array);
    if (from.size() != to.size() || from.empty()) return;
    for (size_t i = 0; i < from.size(); ++i) {
      if (!may_become(*from[i], *to[i])) return;
    }
    for (size_t i = 0; i < from.size(); ++i) pair(from[i], to[i], "shape");
    pairs_.by_order = from.size();
  }

  CachePairs take() {
    const auto place = [&](const CachePair& pair) { return std::ranges::find(order_, pair.input) - order_.begin(); };
    std::ranges::stable_sort(pairs_.found, {}, place);
    return std::move(pairs_);
  }

 private:
  std::vector<const Port*> outputs_;
  std::vector<const Port*> inputs_;
  std::vector<const Port*> order_;
  CachePairs pairs_;
};

// The node that writes positions of an input; invalid: none.
ir::NodeId scatter_of(const ir::Model& model, std::string_view input) {
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    if (!writes_positions(model, node)) continue;
    const ir::ValueId source = source_of(model, ir::operand(model, node, 0));
    if (source.valid() && model.text(model[source].name) == input) return node;
  }
  return {};
}

// A cache whose dims are all fixed.
CacheFeed fixed_feed(const ir::Model& model, const Port& output, const Port& input) {
  CacheFeed feed{output.name, input.name, std::nullopt, false, -1};
  const ir::NodeId node = scatter_of(model, input.name);
  if (!node.valid()) return feed;
  const ir::Attribute* mode = model.find_attribute(model[node], "mode");
  if (mode != nullptr && model.text(mode->string()) == "circular") return feed;
  const ir::Attribute* given = model.find_attribute(model[node], "axis");
  const int64_t axis = given == nullptr ? -2 : given->integer();
  const auto rank = static_cast<int64_t>(input.type->dims.size());
  feed.axis = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  if (*feed.axis < input.type->dims.size()) feed.room = input.type->dims[*feed.axis].size.value_or(-1);
  return feed;
}

// The dim of rows: that of the batch's name, else where exporters put it.
size_t rows_dim(const std::vector<PortDim>& dims, std::string_view rows) {
  constexpr size_t kStackedRank = 5;  // keys and values of a layer in one cache
  if (rows != "?") {
    const auto found = std::ranges::find_if(dims, [&](const PortDim& dim) { return !dim.size && dim.text == rows; });
    if (found != dims.end()) return static_cast<size_t>(found - dims.begin());
  }
  return dims.size() >= kStackedRank ? dims.size() - 4 : 0;
}

}  // namespace

CachePairs pair_caches(const ir::Model& model, const std::vector<const Port*>& outputs,
                       const std::vector<const Port*>& inputs,
                       const std::vector<std::pair<std::string, std::string>>& given) {
  Pairing pairing(outputs, inputs);
  pairing.use_given(given);
  pairing.use_graph(model);
  pairing.use_names();
  pairing.use_order();
  return pairing.take();
}

std::optional<CacheFeed> cache_feed(const ir::Model& model, const Port& output, const Port& input,
                                    std::string_view rows) {
  if (!input.type || !input.type->ranked || scatter_of(model, input.name).valid())
    return fixed_feed(model, output, input);
  const std::vector<PortDim>& dims = input.type->dims;
  const size_t batch = rows_dim(dims, rows);
  std::vector<size_t> open;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].size && i != batch) open.push_back(i);
  }
  if (open.empty()) return fixed_feed(model, output, input);
  const size_t usual = dims.size() < 2 ? 0 : dims.size() - 2;
  if (open.size() == 1) return CacheFeed{output.name, input.name, open[0], true, -1};
  if (std::ranges::find(open, usual) == open.end()) return std::nullopt;
  return CacheFeed{output.name, input.name, usual, true, -1};
}

bool may_become(const Port& output, const Port& input) {
  if (!is_tensor(output) || !is_tensor(input) || output.type->dtype != input.type->dtype) return false;
  if (!output.type->ranked || !input.type->ranked) return true;
  const std::vector<PortDim>& a = output.type->dims;
  const std::vector<PortDim>& b = input.type->dims;
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].size && b[i].size && a[i].size != b[i].size) return false;
  }
  return true;
}

bool looks_like_cache(const Port& port) {
  const std::string name = to_lower(port.name);
  for (const std::string_view word : {"past", "present", "cache", "state"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

std::set<std::string> write_indices(const ir::Model& model) {
  std::set<std::string> names;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    if (!writes_positions(model, node)) continue;
    const ir::ValueId source = source_of(model, ir::operand(model, node, 2));
    if (source.valid()) names.emplace(model.text(model[source].name));
  }
  return names;
}

}  // namespace assay::analysis
