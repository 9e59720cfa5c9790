#include "report/inspect/text_model.h"

#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "tensor/array_text.h"

namespace assay::report {
namespace {

constexpr size_t kStep = 4;

std::string dim_text(const results::ListedDim& dim) {
  if (dim.value) return fmt::format("{}", *dim.value);
  return dim.symbol.empty() ? "-1" : python_string(dim.symbol);
}

std::string tuple_text(const std::vector<results::ListedDim>& dims) {
  std::string text;
  for (const results::ListedDim& dim : dims) text += (text.empty() ? "" : ", ") + dim_text(dim);
  return dims.size() == 1 ? "(" + text + ",)" : "(" + text + ")";
}

std::string list_text(const tensor::Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string value_text(const results::ValueInfo& info, bool shows_unknown_rank) {
  const std::string name = printable(info.name);
  if (info.type.empty()) return name;
  const std::string shape = info.ranked || shows_unknown_rank ? ", shape=" + tuple_text(info.shape) : "";
  return fmt::format("{} [dtype={}{}]", name, info.type, shape);
}

// A list of the texts as Python prints it.
std::string python_list(const std::vector<std::string>& items) { return "[" + join(items, ", ") + "]"; }

struct ValuePrinter {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return python_float(value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const std::vector<int64_t>& values) const {
    return fmt::format("[{}]", fmt::join(values, ", "));
  }
  std::string operator()(const std::vector<double>& values) const {
    std::vector<std::string> items;
    for (const double value : values) items.push_back(python_float(value));
    return python_list(items);
  }
  std::string operator()(const std::vector<std::string>& values) const {
    std::vector<std::string> items;
    for (const std::string& value : values) items.push_back(python_string(value));
    return python_list(items);
  }
  std::string operator()(const std::vector<const tensor::Tensor*>&) const { return ""; }
};

}  // namespace

std::string tensors_text(const std::vector<results::ValueInfo>& infos, const TensorsTextOptions& options) {
  std::string text = "{";
  for (size_t i = 0; i < infos.size(); ++i) {
    if (i > 0) text += ",\n ";
    if (options.marks_initializers && infos[i].is_initializer) text += "Initializer | ";
    text += value_text(infos[i], options.shows_unknown_ranks);
  }
  return text + "}";
}

// The values, or why they cannot be shown: the listing goes on.
std::string TextModelListing::values_text(const tensor::Tensor& tensor) {
  const std::variant<std::string, Error> text = attempt([&] { return tensor::array_text(tensor); });
  const Error* const error = std::get_if<Error>(&text);
  if (error == nullptr) return std::get<std::string>(text);
  if (!options_.is_as_there) return fmt::format("<{}>", error->line());
  unread_.push_back(error->line());
  return "<error: failed to load weights>";
}

std::string TextModelListing::marked_text(const std::vector<results::ValueInfo>& infos) const {
  return tensors_text(infos, {.marks_initializers = true, .shows_unknown_ranks = options_.is_as_there});
}

void TextModelListing::line(std::string_view text) {
  text_.append(indent_, ' ');
  text_ += text;
  text_ += '\n';
}

void TextModelListing::block(std::string_view text, size_t indent) {
  indent_ += indent;
  for (const std::string_view part : split(text, '\n')) line(part);
  indent_ -= indent;
}

void TextModelListing::overview(const results::ModelOverview& overview) {
  if (!options_.is_brief) line("==== ONNX Model ====");
  std::string others;
  for (const auto& [domain, version] : overview.opset_imports) {
    if (domain.empty() || domain == "ai.onnx") continue;
    others += fmt::format("{}{}: {}", others.empty() ? "" : ", ", python_string(domain), version);
  }
  const std::string opset = overview.opset ? fmt::format("{}", *overview.opset) : "Unknown";
  line(fmt::format("Name: {} | ONNX Opset: {}{}", printable(overview.name), opset,
                   others.empty() ? "" : fmt::format(" | Other Opsets: {{{}}}", others)));
  blank();
  if (!options_.is_brief && !options_.is_as_there) summary_ = summary_text(overview);
}

void TextModelListing::title(const results::GraphListing& graph) {
  if (graph.role == results::GraphRole::function) {
    line(fmt::format("==== Function {} ====", printable(graph.name)));
    blank();
  }
  if (options_.attributes && !graph.doc.empty()) {
    line("---- Docstring ----");
    block(graph.doc, 0);
    blank();
  }
}

void TextModelListing::begin_graph(const results::GraphListing& graph) {
  if (graph.role == results::GraphRole::body) {
    begin_attributes();
    line(fmt::format("{}{} = ", nodes_.back().prefix, printable(graph.attribute)));
    indent_ += 2 * kStep;
  }
  title(graph);
  const std::string_view kind = graph.role == results::GraphRole::main   ? "Graph"
                                : graph.role == results::GraphRole::body ? "Subgraph"
                                                                         : "Function";
  line(fmt::format("---- {} {} Input(s) ----", graph.inputs.size(), kind));
  block(marked_text(graph.inputs), 0);
  blank();
  line(fmt::format("---- {} {} Output(s) ----", graph.outputs.size(), kind));
  block(marked_text(graph.outputs), 0);
  blank();
  initializers(graph);
  const bool all = graph.listed_count == graph.node_count;
  line(all ? fmt::format("---- {} Node(s) ----", graph.node_count)
           : fmt::format("---- {} of {} Node(s) ----", graph.listed_count, graph.node_count));
}

void TextModelListing::initializers(const results::GraphListing& graph) {
  line(fmt::format("---- {} Initializer(s) ----", graph.initializer_count));
  if (options_.weights) return weights(graph);
  if (options_.layers) {
    std::vector<results::ValueInfo> infos;
    for (const results::InitializerInfo& item : graph.initializers) infos.push_back(item.info);
    block(tensors_text(infos), 0);
  }
  blank();
}

void TextModelListing::weights(const results::GraphListing& graph) {
  for (const results::InitializerInfo& item : graph.initializers) {
    std::string shape;
    for (const results::ListedDim& dim : item.info.shape) shape += (shape.empty() ? "" : ", ") + dim_text(dim);
    line(fmt::format("Initializer | {} [dtype={}, shape=[{}]] | Values:", printable(item.info.name), item.info.type,
                     shape));
    block(item.tensor ? values_text(*item.tensor) : "<sparse>", kStep);
    blank();
  }
  if (graph.initializers.empty()) {
    line("{}");
    blank();
  }
}

void TextModelListing::begin_node(const results::NodeListing& node) {
  nodes_.push_back({node.name.empty() ? "" : printable(node.name) + ".", false, node.type_attribute});
  line(fmt::format("Node {:<4} | {} [Op: {}]", node.index, printable(node.name), printable(node.op)));
  const std::string inputs = marked_text(node.inputs);
  const std::string outputs = " -> " + marked_text(node.outputs);
  if (!node.inputs.empty() && !node.outputs.empty()) {
    block(inputs, kStep);
    block(indent_continuation(outputs, kStep), kStep);
  } else {
    block(inputs + indent_continuation(outputs, inputs.size() + kStep), kStep);
  }
  indent_ += kStep;
  if (node.cost) line("Cost: " + cost_text(*node.cost));
}

void TextModelListing::begin_attributes() {
  if (!nodes_.back().has_attributes) line("---- Attributes ----");
  nodes_.back().has_attributes = true;
}

void TextModelListing::attribute(const results::AttributeListing& attribute) {
  begin_attributes();
  block(fmt::format("{}{} = {}", nodes_.back().prefix, printable(attribute.name), attribute_text(attribute)), 0);
}

std::string TextModelListing::attribute_text(const results::AttributeListing& attribute) {
  if (!attribute.reference.empty()) return "@" + printable(attribute.reference);
  const int64_t* number = std::get_if<int64_t>(&attribute.value);
  if (number && attribute.name == nodes_.back().type_attribute && std::in_range<int32_t>(*number)) {
    return tensor::name(static_cast<tensor::DType>(*number));
  }
  const auto* tensors = std::get_if<std::vector<const tensor::Tensor*>>(&attribute.value);
  if (!tensors) return std::visit(ValuePrinter(), attribute.value);
  std::string text;
  for (const tensor::Tensor* tensor : *tensors) text += (text.empty() ? "" : "\n") + tensor_text(*tensor);
  return text;
}

std::string TextModelListing::tensor_text(const tensor::Tensor& tensor) {
  std::string text =
      fmt::format("Tensor: [dtype={}, shape={}]", tensor::name(tensor.dtype()), list_text(tensor.shape()));
  if (options_.weights) text += " | Values:\n    " + indent_continuation(values_text(tensor), kStep);
  return text;
}

void TextModelListing::end_node() {
  nodes_.pop_back();
  indent_ -= kStep;
  blank();
}

void TextModelListing::end_graph() {
  if (!nodes_.empty()) {
    indent_ -= 2 * kStep;
    return;
  }
  if (!text_.ends_with("\n\n")) blank();
}

std::string TextModelListing::take_text() {
  text_ += summary_;
  while (text_.ends_with('\n')) text_.pop_back();
  return std::move(text_);
}

}  // namespace assay::report
