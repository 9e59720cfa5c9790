#include "inspect/model_listing.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/cost.h"
#include "base/text.h"
#include "inspect/model_overview.h"
#include "ops/traits.h"

namespace assay::inspect {
namespace {

using ir::AttributeType;

constexpr std::array<std::string_view, 15> kAttributeWords = {
    "UNDEFINED", "FLOAT",   "INT",    "STRING",        "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
    "STRINGS",   "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};

bool matches_any(const std::vector<std::string>& patterns, std::string_view text) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& p) { return matches_glob(p, text); });
}

// Walks graphs and their bodies; what is nested is kept on a stack of its own.
class Lister {
 public:
  Lister(const ir::Model& model, const ListingOptions& options, results::ModelListingSink& sink)
      : model_(model), options_(options), sink_(sink) {}

  void run(ir::GraphId root, results::GraphRole role);

 private:
  // A graph that is being listed: the node to come next, and the attributes of the current one that are still to come.
  struct Level {
    ir::GraphId graph;
    ir::NodeId next;
    size_t index = 0;
    std::span<const ir::Attribute> attributes;
    std::vector<std::pair<ir::Symbol, ir::GraphId>> bodies;
    bool in_node = false;
  };

  void begin(ir::GraphId id, results::GraphRole role, std::string_view attribute);
  void step();
  void begin_node(Level& level);
  void next_attribute(Level& level);
  bool is_filtered() const { return !options_.ops.empty() || !options_.names.empty(); }
  bool is_listed(const ir::Node& node) const;
  bool is_read_by_listed(ir::ValueId value) const;
  results::InitializerInfo initializer(ir::ValueId id) const;

  const ir::Model& model_;
  const ListingOptions& options_;
  results::ModelListingSink& sink_;
  std::vector<Level> levels_;
};

bool Lister::is_listed(const ir::Node& node) const {
  return matches_any(options_.ops, model_.text(node.op)) && matches_any(options_.names, node.name);
}

bool Lister::is_read_by_listed(ir::ValueId value) const {
  for (const ir::Use* use = model_[value].first_use; use != nullptr; use = use->next) {
    if (use->user && is_listed(model_[use->user])) return true;
  }
  return false;
}

results::InitializerInfo Lister::initializer(ir::ValueId id) const {
  const ir::TensorEntry& entry = model_[model_[id].constant];
  return {value_info(model_, id), entry.sparse ? nullptr : &entry.tensor, std::string(entry.external_location)};
}

void Lister::begin(ir::GraphId id, results::GraphRole role, std::string_view attribute) {
  const ir::Graph& graph = model_[id];
  results::GraphListing listing;
  listing.role = role;
  listing.name = model_.text(graph.name);
  listing.attribute = attribute;
  listing.doc = graph.doc;
  for (const ir::ValueId input : graph.inputs) {
    if (!model_[input].constant) listing.inputs.push_back(value_info(model_, input));
  }
  for (const ir::Use& use : model_.outputs(id)) listing.outputs.push_back(value_info(model_, use.value));
  listing.initializer_count = graph.initializers.size();
  if (options_.layers || options_.weights) {
    for (const ir::ValueId value : graph.initializers) {
      if (!is_filtered() || is_read_by_listed(value)) listing.initializers.push_back(initializer(value));
    }
  }
  listing.node_count = listing.listed_count = graph.node_count;
  if (is_filtered()) {
    listing.listed_count = 0;
    for (const ir::NodeId node : ir::nodes(model_, id)) listing.listed_count += is_listed(model_[node]);
  }
  sink_.begin_graph(listing);
  levels_.push_back({id, options_.layers ? graph.first : ir::NodeId{}, 0, {}, {}, false});
}

void Lister::run(ir::GraphId root, results::GraphRole role) {
  begin(root, role, "");
  while (!levels_.empty()) step();
}

void Lister::step() {
  Level& level = levels_.back();
  if (!level.bodies.empty()) {
    const auto [attribute, body] = level.bodies.front();
    level.bodies.erase(level.bodies.begin());
    return begin(body, results::GraphRole::body, model_.text(attribute));
  }
  if (!level.attributes.empty()) return next_attribute(level);
  if (level.in_node) {
    level.in_node = false;
    return sink_.end_node();
  }
  if (level.next) return begin_node(level);
  levels_.pop_back();
  sink_.end_graph();
}

void Lister::begin_node(Level& level) {
  const ir::NodeId id = level.next;
  const ir::Node& node = model_[id];
  level.next = node.next;
  const size_t index = level.index++;
  if (!is_listed(node)) return;
  results::NodeListing listing;
  listing.index = index;
  listing.name = node.name;
  listing.op = model_.text(node.op);
  listing.domain = model_.text(node.domain);
  const ops::Traits& traits = ops::traits(model_, id);
  if (traits.is_cast()) listing.type_attribute = traits.typed_by;
  for (const ir::Use& use : node.operands) listing.inputs.push_back(value_info(model_, use.value));
  for (const ir::ValueId result : node.results) listing.outputs.push_back(value_info(model_, result));
  if (options_.costs) listing.cost = analysis::node_cost(model_, *options_.costs, id);
  sink_.begin_node(listing);
  level.in_node = true;
  if (options_.attributes) level.attributes = node.attributes;
}

void Lister::next_attribute(Level& level) {
  const ir::Attribute& attribute = level.attributes.front();
  level.attributes = level.attributes.subspan(1);
  for (const ir::GraphId body : attribute.graphs()) level.bodies.emplace_back(attribute.name(), body);
  if (level.bodies.empty()) sink_.attribute(attribute_listing(model_, attribute));
}

// Code of a part that a provider has compiled, which is as large as weights, by its size.
std::string text_value(const ir::Model& model, const ir::Attribute& attribute) {
  constexpr size_t kLongestName = 200;
  const std::string_view text = model.text(attribute.string());
  const bool is_code = model.text(attribute.name()) == "ep_cache_context" && text.size() > kLongestName;
  return is_code ? fmt::format("<{} bytes>", text.size()) : std::string(text);
}

results::AttributeListing::Value attribute_value(const ir::Model& model, const ir::Attribute& attribute) {
  switch (attribute.type()) {
    case AttributeType::integer:
      return attribute.integer();
    case AttributeType::floating:
      return static_cast<double>(attribute.floating());
    case AttributeType::string:
      return text_value(model, attribute);
    case AttributeType::integers:
      return std::vector<int64_t>(attribute.integers().begin(), attribute.integers().end());
    case AttributeType::floats:
      return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
    case AttributeType::strings: {
      std::vector<std::string> texts;
      for (const ir::Symbol item : attribute.strings()) texts.emplace_back(model.text(item));
      return texts;
    }
    case AttributeType::type:
    case AttributeType::types: {
      std::vector<std::string> texts;
      for (const ir::TypeId item : attribute.types()) texts.push_back(type_text(model, item));
      return texts;
    }
    case AttributeType::tensor:
    case AttributeType::tensors: {
      std::vector<const tensor::Tensor*> tensors;
      for (const ir::TensorId item : attribute.tensors()) tensors.push_back(&model[item].tensor);
      return tensors;
    }
    default:
      return std::monostate{};
  }
}

}  // namespace

results::AttributeListing attribute_listing(const ir::Model& model, const ir::Attribute& attribute) {
  results::AttributeListing listing;
  listing.name = model.text(attribute.name());
  listing.type = kAttributeWords[static_cast<size_t>(attribute.type())];
  listing.reference = model.text(attribute.reference_target());
  if (!attribute.is_reference()) listing.value = attribute_value(model, attribute);
  return listing;
}

void list_model(const ir::Model& model, const ListingOptions& options, const results::ModelOverview& overview,
                results::ModelListingSink& sink) {
  sink.overview(overview);
  Lister lister(model, options, sink);
  lister.run(model.main_graph(), results::GraphRole::main);
  if (!options.layers) return;
  for (const ir::Function& function : model.functions()) lister.run(function.body, results::GraphRole::function);
}

}  // namespace assay::inspect
