#include "tensorflow/import/written_lists.h"

#include <algorithm>
#include <array>

namespace assay::tensorflow {
namespace {

// The only place where a value is used: a node and the number of the input; empty: there are others, or none, or it is
// an output.
struct Use {
  const SourceNode* node;
  size_t input;
};

std::optional<Use> only_use(const SourceGraph& graph, const std::string& value) {
  std::optional<Use> found;
  for (const SourceNode& node : graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != value) continue;
      if (found) return std::nullopt;
      found = Use{&node, i};
    }
  }
  if (std::ranges::find(graph.outputs, value, &SourcePort::value) != graph.outputs.end()) return std::nullopt;
  return found;
}

// The value behind nodes that hand it on and are its only use.
std::string handed_on(const SourceGraph& graph, std::string value) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::optional<Use> use = only_use(graph, value);
    if (!use || use->node->op != "Identity") break;
    value = use->node->output(0);
  }
  return value;
}

struct Writer {
  std::string_view op;
  size_t list;
};

constexpr std::array kWriters = {Writer{"TensorListSetItem", 0}, Writer{"TensorListPushBack", 0},
                                 Writer{"TensorArrayWriteV3", 3}};

}  // namespace

bool hands_on(const SourceGraph& body, size_t state) {
  std::string value = body.outputs[state].value;
  for (size_t i = 0; i <= body.nodes.size(); ++i) {
    if (value == body.inputs[state].value) return true;
    const std::optional<size_t> node = body.producer(value);
    if (!node || body.nodes[*node].op != "Identity" || body.nodes[*node].inputs.empty()) return false;
    value = body.nodes[*node].inputs.front();
  }
  return false;
}

bool is_written_only(const SourceGraph& body, const SourceGraph& condition, size_t state) {
  if (state >= condition.inputs.size() || only_use(condition, condition.inputs[state].value)) return false;
  const std::optional<Use> use = only_use(body, handed_on(body, body.inputs[state].value));
  if (!use) return false;
  const auto writer = std::ranges::find(kWriters, std::string_view(use->node->op), &Writer::op);
  if (writer == kWriters.end() || writer->list != use->input) return false;
  const std::string result = handed_on(body, use->node->output(0));
  const bool is_used = std::ranges::any_of(
      body.nodes, [&](const SourceNode& node) { return std::ranges::find(node.inputs, result) != node.inputs.end(); });
  const auto outputs = std::ranges::count(body.outputs, result, &SourcePort::value);
  return !is_used && outputs == 1 && body.outputs[state].value == result;
}

}  // namespace assay::tensorflow
