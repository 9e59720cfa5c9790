#include "report/inspect/tensorflow.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/json_reports.h"

namespace assay::report {
namespace {

using results::TensorFlowGraph;
using results::TensorFlowNode;
using results::TensorFlowSignature;
using results::ValueInfo;

using Arguments = std::vector<std::pair<std::string, ValueInfo>>;

std::string tensor_line(const ValueInfo& info) {
  std::vector<std::string> dims;
  for (const results::ListedDim& dim : info.shape) dims.push_back(dim.value ? fmt::format("{}", *dim.value) : "?");
  const std::string shape =
      info.ranked ? fmt::format(", shape=({}{})", join(dims, ", "), dims.size() == 1 ? "," : "") : "";
  return fmt::format("{} [dtype={}{}]", printable(info.name), info.type.empty() ? "?" : info.type, shape);
}

class TensorFlowText {
 public:
  TensorFlowText(const results::TensorFlowListing& listing, const TensorFlowOptions& options)
      : listing_(listing), options_(options) {}

  std::string make() {
    line(0, "==== TensorFlow Model ====");
    line(0, fmt::format("Kind: {}{}", listing_.kind,
                        listing_.version.empty() ? "" : fmt::format(" | Version: {}", printable(listing_.version))));
    if (!listing_.description.empty()) line(0, "Description: " + printable(listing_.description));
    for (const TensorFlowSignature& signature : listing_.signatures) add_signature(signature);
    for (const TensorFlowGraph& graph : listing_.graphs) add_graph("Graph", graph);
    for (const TensorFlowGraph& function : listing_.functions) add_graph("Function", function);
    add_weights();
    add_operators();
    text_.pop_back();
    return std::move(text_);
  }

 private:
  void line(size_t indent, std::string_view text) {
    text_.append(indent, ' ');
    text_ += text;
    text_ += '\n';
  }
  void title(std::string_view text) {
    text_ += '\n';
    line(0, fmt::format("---- {} ----", text));
  }

  void add_signature(const TensorFlowSignature& signature) {
    title(fmt::format("Signature {}{}", printable(signature.name),
                      signature.tags.empty() ? "" : fmt::format(" of {}", printable(signature.tags))));
    for (const auto& [name, info] : signature.inputs)
      line(0, fmt::format("{} <- {}", printable(name), tensor_line(info)));
    for (const auto& [name, info] : signature.outputs)
      line(0, fmt::format("{} -> {}", printable(name), tensor_line(info)));
  }

  void add_graph(std::string_view what, const TensorFlowGraph& graph) {
    title(fmt::format("{}{}: {} Node(s)", what, graph.name.empty() ? "" : " " + printable(graph.name),
                      graph.nodes.size()));
    for (const ValueInfo& info : graph.inputs) line(0, "input  " + tensor_line(info));
    for (const ValueInfo& info : graph.outputs) line(0, "output " + tensor_line(info));
    if (!options_.layers) return;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      if (!options_.is_listed || options_.is_listed(graph.nodes[i])) add_node(i, graph.nodes[i]);
    }
  }

  void add_node(size_t number, const TensorFlowNode& node) {
    line(0, fmt::format("Node {:<4} | {} [Op: {}]", number, printable(node.name), printable(node.op)));
    line(4, fmt::format("{{{}}}{}", printable(join(node.inputs, ", ")),
                        node.outputs.empty() ? "" : fmt::format(" -> {{{}}}", printable(join(node.outputs, ", ")))));
  }

  void add_weights() {
    title("Weights");
    line(0, fmt::format("{} constant(s), {} bytes", listing_.constant_count, listing_.constant_bytes));
    if (listing_.quantized_tensors + listing_.quantized_by_axis > 0) {
      line(0, fmt::format("{} tensor(s) quantised with one scale, {} with one for each channel",
                          listing_.quantized_tensors, listing_.quantized_by_axis));
    }
    if (listing_.variables.empty()) return;
    line(0, fmt::format("{} variable(s), {} bytes", listing_.variables.size(), listing_.variable_bytes));
    if (!options_.weights) return;
    for (const ValueInfo& variable : listing_.variables) line(4, tensor_line(variable));
  }

  void add_operators() {
    title("Operators");
    for (const auto& [op, count] : listing_.op_histogram) line(0, fmt::format("{:>6} {}", count, printable(op)));
  }

  const results::TensorFlowListing& listing_;
  const TensorFlowOptions& options_;
  std::string text_;
};

}  // namespace

std::string tensorflow_text(const results::TensorFlowListing& listing, const TensorFlowOptions& options) {
  return TensorFlowText(listing, options).make();
}

std::string tensorflow_json(const results::TensorFlowListing& listing, const TensorFlowOptions& options) {
  results::TensorFlowListing shown = listing;
  for (auto* const graphs : {&shown.graphs, &shown.functions}) {
    for (TensorFlowGraph& graph : *graphs) {
      std::erase_if(graph.nodes, [&](const TensorFlowNode& node) {
        return !options.layers || (options.is_listed && !options.is_listed(node));
      });
    }
  }
  return report_json(shown);
}

}  // namespace assay::report
