#include "tensorflow/source/graph_def.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "tensorflow/source/dtypes.h"
#include "tensorflow/source/first_generation.h"
#include "tensorflow/source/region.h"
#include "tensorflow/source/tensor_proto.h"

namespace assay::tensorflow {
namespace {

using onnx::Field;
using onnx::FieldReader;
using onnx::Message;

std::string text_in(const Field& field) { return std::string(onnx::as_string(field, "a text")); }
Message message_in(const Message& parent, const Field& field) { return onnx::as_message(parent, field, "a message"); }

float as_number(const Field& field) { return onnx::as_float(field, "a number"); }

// A NameAttrList: `name` 1.
std::string function_name(const Message& message) {
  std::string name;
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 1) name = text_in(field);
  }
  return name;
}

// AttrValue.ListValue: `s` 2, `i` 3, `f` 4, `b` 5, `type` 6.
SourceAttribute read_list(const Message& message) {
  std::vector<int64_t> integers;
  std::vector<double> numbers;
  std::vector<std::string> texts;
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 2) texts.push_back(text_in(field));
    if (field.number == 3 || field.number == 5) {
      onnx::for_each_varint(field, "a list", [&](uint64_t item) { integers.push_back(static_cast<int64_t>(item)); });
    }
    if (field.number == 4) {
      onnx::for_each_fixed<uint32_t>(field, "a list", [&](uint32_t bits) {
        float number = 0;
        __builtin_memcpy(&number, &bits, sizeof(number));
        numbers.push_back(number);
      });
    }
    if (field.number == 6) {
      onnx::for_each_varint(field, "a list",
                            [&](uint64_t item) { integers.push_back(static_cast<int64_t>(tensorflow_dtype(item))); });
    }
  }
  if (!texts.empty()) return texts;
  if (!numbers.empty()) return numbers;
  return integers;
}

class GraphSource {
 public:
  explicit GraphSource(const std::shared_ptr<const MappedFile>& file) : file_(file) {}

  // NodeDef: `name` 1, `op` 2, `input` 3, `attr` 5. Control inputs order what has effects, and nothing here has.
  SourceNode read_node(const Message& message) const {
    SourceNode node;
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == 1) node.name = text_in(field);
      if (field.number == 2) node.op = text_in(field);
      if (field.number == 3) {
        const std::string input = text_in(field);
        if (input.starts_with('^'))
          node.before.push_back(input.substr(1));
        else
          node.inputs.push_back(value_name(input));
      }
      if (field.number == 5) read_attribute(message_in(message, field), node);
    }
    return node;
  }

  // FunctionDef: `signature` 1, `node_def` 3, `ret` 4.
  SourceGraph read_function(const Message& message) const {
    SourceGraph function;
    std::vector<std::string> outputs;
    std::map<std::string, std::string> returned;
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == 1) read_interface(message_in(message, field), function, outputs);
      if (field.number == 3) function.nodes.push_back(read_node(message_in(message, field)));
      if (field.number == 4) read_return(message_in(message, field), returned);
    }
    function.index_producers();
    for (SourceNode& node : function.nodes) {
      for (std::string& input : node.inputs) input = value_in_function(function, input);
    }
    for (const std::string& name : outputs) {
      function.outputs.push_back({name, value_in_function(function, value_name(returned[name]))});
    }
    return function;
  }

 private:
  // A name and an AttrValue: `list` 1, `s` 2, `i` 3, `f` 4, `b` 5, `type` 6, `shape` 7, `tensor` 8, `func` 10.
  void read_attribute(const Message& message, SourceNode& node) const {
    std::string key;
    std::optional<SourceAttribute> value;
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == 1) key = text_in(field);
      if (field.number == 2) value = read_value(message_in(message, field));
    }
    if (value) node.attributes.insert_or_assign(std::move(key), std::move(*value));
  }

  std::optional<SourceAttribute> read_value(const Message& message) const {
    std::optional<SourceAttribute> value;
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == 1) value = read_list(message_in(message, field));
      if (field.number == 2) value = text_in(field);
      if (field.number == 3 || field.number == 5) value = onnx::as_int(field, "a number");
      if (field.number == 4) value = double{as_number(field)};
      if (field.number == 6) value = static_cast<int64_t>(tensorflow_dtype(field.value));
      if (field.number == 7) read_shape(message_in(message, field), value);
      if (field.number == 8) read_tensor(message_in(message, field), value);
      if (field.number == 10) value = function_name(message_in(message, field));
    }
    return value;
  }

  static void read_shape(const Message& message, std::optional<SourceAttribute>& value) {
    if (std::optional<std::vector<int64_t>> dims = read_shape_proto(message)) value = std::move(*dims);
  }

  void read_tensor(const Message& message, std::optional<SourceAttribute>& value) const {
    if (std::optional<tensor::Tensor> tensor = read_tensor_proto(message, file_)) {
      value = std::move(*tensor);
    } else {
      value = read_string_tensor(message);
    }
  }

  // OpDef: `name` 1, `input_arg` 2, `output_arg` 3, each with `name` 1.
  static void read_interface(const Message& message, SourceGraph& function, std::vector<std::string>& outputs) {
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == 1) function.name = text_in(field);
      if (field.number != 2 && field.number != 3) continue;
      const std::string name = function_name(message_in(message, field));
      if (field.number == 2) function.inputs.push_back({name, value_name(name)});
      if (field.number == 3) outputs.push_back(name);
    }
  }

  static void read_return(const Message& message, std::map<std::string, std::string>& returned) {
    std::string key;
    std::string value;
    Field field;
    for (FieldReader fields(message); fields.next(field);) {
      if (field.number == 1) key = text_in(field);
      if (field.number == 2) value = text_in(field);
    }
    returned[key] = value;
  }

  static std::string value_in_function(const SourceGraph& function, const std::string& written);

  std::shared_ptr<const MappedFile> file_;
};

// Outputs of operators that have several by name: the number of the first value of each. Those of all others begin at
// 0.
struct OutputName {
  std::string_view op;  // or the begin of several
  std::string_view name;
  int64_t first;
};

constexpr std::array kOutputNames = {
    OutputName{"TopKV2", "indices", 1},
    OutputName{"Unique", "idx", 1},
    OutputName{"MaxPoolWithArgmax", "argmax", 1},
    OutputName{"FusedBatchNorm", "batch_mean", 1},
    OutputName{"FusedBatchNorm", "batch_variance", 2},
    OutputName{"FusedBatchNorm", "reserve_space_1", 3},
    OutputName{"FusedBatchNorm", "reserve_space_2", 4},
    OutputName{"FusedBatchNorm", "reserve_space_3", 5},
    OutputName{"Switch", "output_true", 1},
    OutputName{"Merge", "value_index", 1},
    OutputName{"TensorArrayV3", "flow", 1},
    OutputName{"TensorArrayConcatV3", "lengths", 1},
    OutputName{"TensorListConcat", "lengths", 1},
    OutputName{"TensorListPopBack", "tensor", 1},
};

// In a function a value is `node:output:0`: the name of an output, and a number in it.
std::string GraphSource::value_in_function(const SourceGraph& function, const std::string& written) {
  const std::vector<std::string_view> parts = split(written, ':');
  if (parts.size() != 3) return written;
  const std::optional<size_t> node = function.producer(parts[0]);
  int64_t number = 0;
  std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), number);
  const auto known = std::ranges::find_if(kOutputNames, [&](const OutputName& each) {
    return node && function.nodes[*node].op.starts_with(each.op) && each.name == parts[1];
  });
  if (known != kOutputNames.end()) number += known->first;
  return fmt::format("{}:{}", parts[0], number);
}

// FunctionDefLibrary: `function` 1.
void read_library(const Message& message, const GraphSource& source, SourceModel& model) {
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number != 1) continue;
    SourceGraph function = source.read_function(message_in(message, field));
    std::string name = function.name;
    model.functions.insert_or_assign(std::move(name), std::move(function));
  }
}

std::string_view node_part(std::string_view value) { return value.substr(0, value.rfind(':')); }

// Nodes that give nothing which could be an output.
bool is_without_output(const SourceGraph& graph, const SourceNode& node) {
  constexpr std::array<std::string_view, 9> kNone = {
      "NoOp", "Assert", "Placeholder", "Const", "_Retval", "SaveV2", "VarHandleOp", "PlaceholderWithDefault", "Switch"};
  const SourceNode* const before =
      node.op == "Identity" && !node.inputs.empty() ? producer_of(graph, node.inputs[0]) : nullptr;
  return std::ranges::find(kNone, node.op) != kNone.end() || (before != nullptr && before->op == "Switch");
}

// Nodes that others use, or wait for.
std::set<std::string, std::less<>> used_nodes(const SourceGraph& graph) {
  std::set<std::string, std::less<>> used;
  for (const SourceNode& node : graph.nodes) {
    for (const std::string& input : node.inputs) used.emplace(node_part(input));
    for (const std::string& name : node.before) used.insert(name);
  }
  return used;
}

// Placeholders that control flow leaves behind are used by nothing.
bool is_input(const SourceNode& node, const std::set<std::string, std::less<>>& used) {
  return node.op == "Placeholder" && (used.contains(node.name) || !node.name.starts_with("unused_control_flow_input"));
}

void choose_unused(SourceGraph& graph, const std::set<std::string, std::less<>>& used) {
  for (const SourceNode& node : graph.nodes) {
    if (is_without_output(graph, node)) continue;
    const std::vector<std::string> given = node.outputs.empty() ? std::vector{node.output(0)} : node.outputs;
    for (const std::string& value : given) {
      if (!value.empty() && !used.contains(node_part(value))) graph.outputs.push_back({value, value});
    }
  }
}

}  // namespace

std::string value_name(std::string_view written) {
  const size_t colon = written.rfind(':');
  const bool has_number = colon != std::string_view::npos && colon + 1 < written.size() &&
                          written.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  return has_number ? std::string(written) : fmt::format("{}:0", written);
}

void read_graph_def(const Message& message, const std::shared_ptr<const MappedFile>& file, SourceModel& model) {
  const GraphSource source(file);
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 1) model.main.nodes.push_back(source.read_node(message_in(message, field)));
    if (field.number == 2) read_library(message_in(message, field), source, model);
  }
  model.main.index_producers();
}

void choose_outputs(SourceModel& model, const std::vector<std::string>& outputs) {
  std::vector<SourcePort> chosen;
  for (const std::string& name : outputs) {
    const auto port = std::ranges::find(model.main.outputs, name, &SourcePort::name);
    const std::string value = model.is_lite ? name : value_name(name);
    if (port == model.main.outputs.end() && !model.main.producer(value)) {
      fail(ErrorCode::usage, "the graph has no `{}`", printable(name));
    }
    chosen.push_back(port == model.main.outputs.end() ? SourcePort{value, value} : *port);
  }
  model.main.outputs = std::move(chosen);
}

void choose_ports(SourceModel& model, const std::vector<std::string>& outputs) {
  SourceGraph& graph = model.main;
  const std::set<std::string, std::less<>> used = used_nodes(graph);
  raise_control_flow(model);
  for (const SourceNode& node : graph.nodes) {
    if (!is_input(node, used)) continue;
    SourceValue value;
    const auto dtype = node.attributes.find("dtype");
    const auto* const type = dtype == node.attributes.end() ? nullptr : std::get_if<int64_t>(&dtype->second);
    if (type != nullptr) value.dtype = static_cast<tensor::DType>(*type);
    const auto shape = node.attributes.find("shape");
    const auto* const dims =
        shape == node.attributes.end() ? nullptr : std::get_if<std::vector<int64_t>>(&shape->second);
    if (dims != nullptr) value.dims = *dims;
    graph.values[node.output(0)] = std::move(value);
    graph.inputs.push_back({node.output(0), node.output(0)});
  }
  if (!outputs.empty()) return choose_outputs(model, outputs);
  choose_unused(graph, used);
}

SourceModel read_graph_source(const std::shared_ptr<const MappedFile>& file, const std::vector<std::string>& outputs) {
  SourceModel model;
  model.producer = "TensorFlow";
  const auto done = attempt([&] {
    read_graph_def(Message{.bytes = file->bytes(), .origin = file->bytes().data()}, file, model);
    return true;
  });
  const Error* const error = std::get_if<Error>(&done);
  if (error != nullptr && error->code() != ErrorCode::parse) throw *error;
  if (error != nullptr || model.main.nodes.empty()) {
    fail(ErrorCode::parse, "the file is no frozen graph of TensorFlow, or is damaged");
  }
  choose_ports(model, outputs);
  return model;
}

}  // namespace assay::tensorflow
