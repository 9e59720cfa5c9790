#include <algorithm>

#include "tensorflow/source/first_generation.h"
#include "tensorflow/source/region.h"

namespace assay::tensorflow {
namespace {

// A value that goes round, or, without a Merge, stands still in the loop.
struct Ring {
  std::string enter;                 // the value before the loop
  std::string inside;                // the name in the loop: of the Merge, or of the Enter
  std::string next;                  // after a round; empty: it stands still
  std::vector<std::string> in_body;  // names behind Switches
  std::vector<std::string> behind;   // names after the loop
};

std::string frame_of(const SourceNode& node) {
  const auto found = node.attributes.find("frame_name");
  const auto* const text = found == node.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string() : *text;
}

bool is_op(const SourceNode* node, std::string_view op) { return node != nullptr && node->op == op; }

// Another name for a value.
SourceNode alias(const std::string& name, const std::string& value) {
  SourceNode node;
  node.name = name.substr(0, name.rfind(':'));
  node.op = "Identity";
  node.inputs = {value};
  node.outputs = {name};
  return node;
}

bool is_needed(const SourceGraph& graph, const std::string& value) {
  if (std::ranges::find(graph.outputs, value, &SourcePort::value) != graph.outputs.end()) return true;
  return std::ranges::any_of(
      graph.nodes, [&](const SourceNode& node) { return std::ranges::find(node.inputs, value) != node.inputs.end(); });
}

// The nodes of one loop, and the values that go round in it.
class Frame {
 public:
  Frame(const SourceGraph& graph, std::string name) : graph_(graph), name_(std::move(name)) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const SourceNode& node = graph.nodes[i];
      if (node.op == "Enter" && frame_of(node) == name_ && !node.inputs.empty()) enters_.insert(i);
    }
    for (const size_t enter : enters_) add_ring(graph.nodes[enter]);
    for (const SourceNode& node : graph.nodes) add_use(node);
  }

  // False if another loop stands inside, or the ring is not closed.
  bool can_be_raised() const {
    if (condition_.empty() || !is_closed_) return false;
    const auto is_exit = [&](size_t node) { return graph_.nodes[node].op == "Exit"; };
    return std::ranges::none_of(condition_region(), is_exit) && std::ranges::none_of(body_region(), is_exit);
  }

  SourceGraph condition(std::string name) const {
    SourceGraph function = function_of(graph_, condition_region(), std::move(name));
    for (const Ring& ring : rings_) function.inputs.push_back({ring.inside, ring.inside});
    function.outputs.push_back({condition_, condition_});
    function.index_producers();
    return function;
  }

  SourceGraph body(std::string name) const {
    SourceGraph function = function_of(graph_, body_region(), std::move(name));
    for (const Ring& ring : rings_) {
      const std::string argument = ring.in_body.empty() ? ring.inside : ring.in_body.front();
      const std::string& result = ring.next.empty() ? argument : ring.next;
      function.inputs.push_back({argument, argument});
      function.outputs.push_back({result, result});
    }
    for (const Ring& ring : rings_) {
      const std::string argument = ring.in_body.empty() ? ring.inside : ring.in_body.front();
      for (const std::string& other : names_in_body(ring)) {
        if (other != argument && is_needed(function, other)) function.nodes.push_back(alias(other, argument));
      }
    }
    function.index_producers();
    return function;
  }

  SourceNode loop(const std::string& condition, const std::string& body) const {
    SourceNode node;
    node.name = name_;
    node.op = "While";
    for (const Ring& ring : rings_) {
      node.inputs.push_back(ring.enter);
      node.outputs.push_back(ring.behind.empty() ? std::string() : ring.behind.front());
    }
    node.attributes.emplace("cond", condition);
    node.attributes.emplace("body", body);
    return node;
  }

  // Second and further names of what comes out of the loop.
  std::vector<SourceNode> aliases() const {
    std::vector<SourceNode> nodes;
    for (const Ring& ring : rings_) {
      for (size_t i = 1; i < ring.behind.size(); ++i) {
        nodes.push_back(alias(ring.behind[i], ring.behind.front()));
      }
    }
    return nodes;
  }

  Region nodes() const { return depending_on(graph_, enters_, "Exit"); }
  Region moved() const {
    Region moved = body_region();
    moved.merge(condition_region());
    return moved;
  }

 private:
  void add_ring(const SourceNode& enter) {
    const std::string value = enter.output(0);
    for (const SourceNode& node : graph_.nodes) {
      if (node.op != "Merge" || std::ranges::find(node.inputs, value) == node.inputs.end()) continue;
      const auto next = std::ranges::find_if(
          node.inputs, [&](const std::string& input) { return is_op(producer_of(graph_, input), "NextIteration"); });
      const SourceNode* const back = next == node.inputs.end() ? nullptr : producer_of(graph_, *next);
      if (back == nullptr || back->inputs.empty()) {
        is_closed_ = false;
        return;
      }
      rings_.push_back({enter.inputs[0], node.output(0), back->inputs[0], {}, {}});
      return;
    }
    rings_.push_back({enter.inputs[0], value, {}, {}, {}});
  }

  // Switches by the loop's condition, and Exits behind them.
  void add_use(const SourceNode& node) {
    if (node.op != "Switch" || node.inputs.size() != 2) return;
    const SourceNode* const condition = producer_of(graph_, node.inputs[1]);
    const auto ring = std::ranges::find(rings_, node.inputs[0], &Ring::inside);
    if (!is_op(condition, "LoopCond") || condition->inputs.empty() || ring == rings_.end()) return;
    condition_ = condition->inputs[0];
    ring->in_body.push_back(node.output(1));
    for (const SourceNode& exit : graph_.nodes) {
      if (exit.op == "Exit" && !exit.inputs.empty() && exit.inputs[0] == node.output(0)) {
        ring->behind.push_back(exit.output(0));
      }
    }
  }

  static std::vector<std::string> names_in_body(const Ring& ring) {
    std::vector<std::string> names = ring.in_body;
    names.push_back(ring.inside);
    return names;
  }

  Region condition_region() const {
    std::set<std::string> ends;
    for (const Ring& ring : rings_) ends.insert(ring.inside);
    return needed_for(graph_, {condition_}, ends);
  }

  Region body_region() const {
    std::set<std::string> ends;
    std::vector<std::string> values;
    for (const Ring& ring : rings_) {
      for (std::string& name : names_in_body(ring)) ends.insert(std::move(name));
      if (!ring.next.empty()) values.push_back(ring.next);
    }
    return needed_for(graph_, values, ends);
  }

  const SourceGraph& graph_;
  std::string name_;
  Region enters_;
  std::vector<Ring> rings_;
  std::string condition_;
  bool is_closed_ = true;
};

std::set<std::string> frames_of(const SourceGraph& graph) {
  std::set<std::string> frames;
  for (const SourceNode& node : graph.nodes) {
    if (node.op == "Enter") frames.insert(frame_of(node));
  }
  return frames;
}

// Raises one loop that has none inside; false: there is none.
bool raise_innermost(SourceModel& model, SourceGraph& graph) {
  for (const std::string& name : frames_of(graph)) {
    const Frame frame(graph, name);
    if (!frame.can_be_raised()) continue;
    SourceGraph condition = frame.condition(new_function_name(model, name + "/cond"));
    SourceGraph body = frame.body(new_function_name(model, name + "/body"));
    SourceNode loop = frame.loop(condition.name, body.name);
    const Region gone = frame.nodes();
    const Region moved = frame.moved();
    for (SourceNode& alias : frame.aliases()) graph.nodes.push_back(std::move(alias));
    replace_nodes(graph, gone, moved, std::move(loop));
    for (SourceGraph* function : {&condition, &body}) {
      const std::string key = function->name;
      model.functions.insert_or_assign(key, std::move(*function));
    }
    return true;
  }
  return false;
}

}  // namespace

void raise_loops(SourceModel& model, SourceGraph& graph) {
  while (raise_innermost(model, graph)) {
  }
}

}  // namespace assay::tensorflow
