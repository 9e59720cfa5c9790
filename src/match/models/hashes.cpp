#include "match/models/hashes.h"

#include <bit>

#include "ir/walk.h"
#include "match/models/words.h"

namespace assay::match {
namespace {

using ir::NodeId;
using ir::ValueId;

class NodeHasher {
 public:
  NodeHasher(const ir::Model& model, const InterfaceSeeds& seeds);
  NodeHashes run();

 private:
  void seed_inputs(ir::GraphId graph);
  void order_nodes(ir::GraphId root);
  uint64_t symbol(ir::Symbol symbol);
  uint64_t attribute(const ir::Attribute& attribute);
  uint64_t attribute_value(const ir::Attribute& attribute);
  uint64_t type(ir::TypeId type);
  void hash_down(NodeId node);
  uint64_t hash_local(const ir::Node& node);
  uint64_t graph_forward(ir::GraphId graph) const;
  void hash_up(NodeId node);
  uint64_t uses_of(ValueId value) const;
  uint64_t output_seed(const ir::Use& use) const;

  const ir::Model& model_;
  const InterfaceSeeds& seeds_;
  NodeHashes hashes_;
  std::vector<NodeId> order_;           // bodies before the node that has them
  std::vector<uint64_t> symbols_;       // by symbol; 0: not hashed yet
  std::vector<uint64_t> values_;        // by value
  std::vector<uint64_t> graph_locals_;  // by graph: its nodes by themselves
};

NodeHasher::NodeHasher(const ir::Model& model, const InterfaceSeeds& seeds)
    : model_(model),
      seeds_(seeds),
      symbols_(model.symbols().size()),
      values_(model.value_slots(), kHashOfUnknown),
      graph_locals_(model.graph_slots()) {
  for (std::vector<uint64_t>* column : {&hashes_.local, &hashes_.content, &hashes_.forward, &hashes_.backward}) {
    column->resize(model.node_slots());
  }
}

void NodeHasher::seed_inputs(ir::GraphId id) {
  const std::vector<ValueId>& inputs = model_[id].inputs;
  const bool is_main = id == model_.main_graph();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (model_[inputs[i]].constant) continue;
    values_[inputs[i].index] = is_main ? seeds_.inputs[i] : mix(kHashOfOmitted, i);
  }
}

// The bodies that are still to come are kept on a stack of its own.
void NodeHasher::order_nodes(ir::GraphId root) {
  struct Level {
    NodeId next;
    NodeId current;
    std::vector<ir::GraphId> bodies;
  };
  std::vector<Level> levels = {{model_[root].first, {}, {}}};
  while (!levels.empty()) {
    Level& level = levels.back();
    if (!level.bodies.empty()) {
      const NodeId first = model_[level.bodies.back()].first;
      level.bodies.pop_back();
      levels.push_back({first, {}, {}});
      continue;
    }
    if (level.current) order_.push_back(level.current);
    level.current = level.next;
    if (!level.current) {
      levels.pop_back();
      continue;
    }
    level.next = model_[level.current].next;
    level.bodies = model_.bodies(model_[level.current]);
  }
}

NodeHashes NodeHasher::run() {
  order_.reserve(model_.node_slots());
  order_nodes(model_.main_graph());
  for (const ir::Function& function : model_.functions()) order_nodes(function.body);
  for (const ValueId id : ir::live_values(model_)) {
    if (model_[id].constant) values_[id.index] = hash_tensor(model_[model_[id].constant]);
  }
  for (uint32_t i = 0; i < model_.graph_slots(); ++i) seed_inputs(ir::GraphId{i});
  for (const NodeId node : order_) hash_down(node);
  for (size_t i = order_.size(); i-- > 0;) hash_up(order_[i]);
  return std::move(hashes_);
}

uint64_t NodeHasher::symbol(ir::Symbol symbol) {
  uint64_t& hash = symbols_[symbol.index];
  if (hash == 0) hash = hash_text(model_.text(symbol)) | 1;
  return hash;
}

uint64_t NodeHasher::type(ir::TypeId id) {
  uint64_t hash = kHashOfOmitted;
  for (; id; id = model_[id].element) {
    const ir::Type& type = model_[id];
    hash = mix(mix(hash, static_cast<uint64_t>(type.kind)), static_cast<uint64_t>(type.dtype));
    hash = mix(hash, type.dims.size());
  }
  return hash;
}

uint64_t NodeHasher::attribute_value(const ir::Attribute& attribute) {
  uint64_t hash = static_cast<uint64_t>(attribute.type());
  switch (attribute.type()) {
    case ir::AttributeType::floating:
    case ir::AttributeType::floats:
      for (const float item : attribute.floats()) hash = mix(hash, std::bit_cast<uint32_t>(item));
      return hash;
    case ir::AttributeType::integer:
    case ir::AttributeType::integers:
      for (const int64_t item : attribute.integers()) hash = mix(hash, static_cast<uint64_t>(item));
      return hash;
    case ir::AttributeType::string:
    case ir::AttributeType::strings:
      for (const ir::Symbol item : attribute.strings()) hash = mix(hash, symbol(item));
      return hash;
    case ir::AttributeType::graph:
    case ir::AttributeType::graphs:
      for (const ir::GraphId body : attribute.graphs()) hash = mix(hash, graph_locals_[body.index]);
      return hash;
    case ir::AttributeType::type:
    case ir::AttributeType::types:
      for (const ir::TypeId item : attribute.types()) hash = mix(hash, type(item));
      return hash;
    case ir::AttributeType::undefined:
      return hash;
    default:
      break;
  }
  for (const ir::TensorId item : attribute.tensors()) hash = mix(hash, hash_tensor(model_[item]));
  return hash;
}

uint64_t NodeHasher::attribute(const ir::Attribute& attribute) {
  const uint64_t hash = symbol(attribute.name());
  if (attribute.is_reference()) return mix(hash, ~symbol(attribute.reference_target()));
  return mix(hash, attribute_value(attribute));
}

// Attributes are added up because their order does not count.
uint64_t NodeHasher::hash_local(const ir::Node& node) {
  uint64_t hash = mix(mix(symbol(node.op), symbol(node.domain)), symbol(node.overload));
  uint64_t attributes = 0;
  for (const ir::Attribute& item : node.attributes) attributes += attribute(item);
  hash = mix(mix(hash, attributes), node.results.size());
  for (const ir::Use& use : node.operands) {
    const bool is_weight = use.value && model_[use.value].constant;
    hash = mix(hash, is_weight ? hash_tensor_type(model_[model_[use.value].constant]) : use.value ? 1 : 0);
  }
  return hash;
}

uint64_t NodeHasher::graph_forward(ir::GraphId graph) const {
  uint64_t hash = kHashOfOmitted;
  for (const ir::Use& use : model_.outputs(graph))
    hash = mix(hash, use.value ? values_[use.value.index] : kHashOfOmitted);
  return hash;
}

void NodeHasher::hash_down(NodeId id) {
  const ir::Node& node = model_[id];
  const uint64_t local = hash_local(node);
  uint64_t content = local;
  uint64_t forward = local;
  for (const ir::Use& use : node.operands) {
    const uint64_t operand = use.value ? values_[use.value.index] : kHashOfOmitted;
    if (use.value && model_[use.value].constant) content = mix(content, operand);
    forward = mix(forward, operand);
  }
  for (const ir::Attribute& attribute : node.attributes) {
    for (const ir::GraphId body : attribute.graphs()) forward = mix(forward, graph_forward(body));
  }
  hashes_.local[id.index] = local;
  hashes_.content[id.index] = content;
  hashes_.forward[id.index] = forward;
  graph_locals_[node.graph.index] += mix(local, kHashOfOmitted);
  for (size_t i = 0; i < node.results.size(); ++i) {
    if (node.results[i]) values_[node.results[i].index] = mix(forward, i);
  }
}

uint64_t NodeHasher::output_seed(const ir::Use& use) const {
  const bool is_main = model_[use.user].graph == model_.main_graph();
  return is_main ? seeds_.outputs[use.index] : mix(kHashOfUnknown, use.index);
}

uint64_t NodeHasher::uses_of(ValueId value) const {
  uint64_t sum = 0;
  for (const ir::Use& use : ir::uses(model_, value)) {
    const bool is_output = model_[use.user].is_outputs;
    sum += is_output ? output_seed(use) : mix(hashes_.backward[use.user.index], use.index);
  }
  return sum;
}

void NodeHasher::hash_up(NodeId id) {
  uint64_t hash = hashes_.local[id.index];
  for (const ValueId result : model_[id].results) hash = mix(hash, result ? uses_of(result) : kHashOfOmitted);
  hashes_.backward[id.index] = hash;
}

}  // namespace

NodeHashes hash_nodes(const ir::Model& model, const InterfaceSeeds& seeds) { return NodeHasher(model, seeds).run(); }

}  // namespace assay::match
