#include "tensorflow/source/tflite.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "tensorflow/flat_buffer.h"
#include "tensorflow/read.h"
#include "tensorflow/source/dtypes.h"
#include "tensorflow/source/tflite_options.h"
#include "tensorflow/tflite_schema.h"

namespace assay::tensorflow {
namespace {

constexpr uint64_t kMostItems = uint64_t{1} << 22;  // one vector may be the list of many tables

class SourceReader {
 public:
  explicit SourceReader(const std::shared_ptr<const MappedFile>& file)
      : mapped_(file), file_(file->bytes()), root_(file_.root()) {}

  SourceModel read(const std::string& signature) {
    SourceModel made{.is_lite = true, .main = {}, .functions = {}, .variables = {}, .producer = "TensorFlow Lite"};
    buffers_ = file_.vector(root_, model::buffers, 4);
    codes_ = file_.vector(root_, model::operator_codes, 4);
    const FlatVector graphs = file_.vector(root_, model::subgraphs, 4);
    if (graphs.count == 0) fail(ErrorCode::parse, "the file has no graph");
    uint32_t main = 0;
    if (!signature.empty()) main = file_.scalar<uint32_t>(signature_table(signature), signature_field::subgraph, 0);
    if (main >= graphs.count) fail(ErrorCode::parse, "the signature names a graph that is not there");
    for (uint64_t i = 0; i < graphs.count; ++i) {
      SourceGraph graph = read_graph(file_.table_at(graphs, i));
      if (i == main && !signature.empty()) name_ports(signature_table(signature), graph);
      (i == main ? made.main : made.functions[fmt::format("{}", i)]) = std::move(graph);
    }
    return made;
  }

 private:
  SourceGraph read_graph(uint64_t table) {
    SourceGraph graph;
    graph.name = file_.text(table, subgraph::name);
    const FlatVector tensors = file_.vector(table, subgraph::tensors, 4);
    spend(tensors.count);
    names_.clear();
    for (uint64_t i = 0; i < tensors.count; ++i) read_tensor(file_.table_at(tensors, i), i, graph);
    graph.inputs = ports(table, subgraph::inputs);
    graph.outputs = ports(table, subgraph::outputs);
    const FlatVector operators = file_.vector(table, subgraph::operators, 4);
    spend(operators.count);
    for (uint64_t i = 0; i < operators.count; ++i) graph.nodes.push_back(read_node(file_.table_at(operators, i)));
    graph.index_producers();
    tensors_of_main_ = names_;
    return graph;
  }

  // Names of tensors may be empty, or stand there twice.
  std::string unique_name(std::string_view name, uint64_t number, const SourceGraph& graph) {
    spend(1 + name.size() / 16);
    std::string unique = name.empty() ? fmt::format("tensor_{}", number) : std::string(name);
    if (graph.values.contains(unique)) unique += fmt::format("_{}", number);
    while (graph.values.contains(unique)) unique += '_';
    return unique;
  }

  void read_tensor(uint64_t table, uint64_t number, SourceGraph& graph) {
    const std::string name = unique_name(file_.text(table, tensor_field::name), number, graph);
    names_.push_back(name);
    SourceValue value;
    value.dtype = tflite_dtype(file_.scalar<uint8_t>(table, tensor_field::type, 0));
    FlatVector shape = file_.vector(table, tensor_field::shape_signature, 4);
    if (shape.count == 0) shape = file_.vector(table, tensor_field::shape, 4);
    value.dims = integers<int32_t>(shape);
    if (const uint64_t at = file_.field(table, tensor_field::quantization); at != 0) {
      read_quantization(file_.follow(at), value);
    }
    if (file_.field(table, tensor_field::sparsity) != 0) {
      fail(ErrorCode::unsupported, "`{}` is a sparse tensor, which is not imported", printable(name));
    }
    const std::vector<int64_t> dims = integers<int32_t>(file_.vector(table, tensor_field::shape, 4));
    const uint32_t buffer = file_.scalar<uint32_t>(table, tensor_field::buffer, 0);
    if (file_.scalar<uint8_t>(table, tensor_field::is_variable, 0) != 0) {
      add_state(name, dims, value, graph);
    } else if (buffer != 0) {
      add_constant(name, buffer, dims, value, graph);
    }
    graph.values.emplace(name, std::move(value));
  }

  void read_quantization(uint64_t table, SourceValue& value) {
    const FlatVector scales = file_.vector(table, quantization::scale, 4);
    const FlatVector zeros = file_.vector(table, quantization::zero_point, 8);
    spend(scales.count + zeros.count);
    for (uint64_t i = 0; i < scales.count; ++i) {
      value.quantization.scales.push_back(file_.number<float>(scales.begin + i * 4));
    }
    if (std::ranges::count(value.quantization.scales, 0.0F) != 0) value.quantization.scales.clear();
    value.quantization.zero_points = integers<int64_t>(zeros);
    value.quantization.axis = file_.scalar<int32_t>(table, quantization::axis, 0);
  }

  // The state of an operator, which begins at 0.
  static void add_state(const std::string& name, const std::vector<int64_t>& dims, const SourceValue& value,
                        SourceGraph& graph) {
    const uint32_t width = tensor::bit_width(value.dtype) / 8;
    const std::optional<uint64_t> count = tensor::element_count(dims);
    if (width == 0 || !count) fail(ErrorCode::parse, "the state `{}` has no shape that can be", printable(name));
    graph.constants.emplace(
        name, tensor::Tensor(value.dtype, dims, tensor::make_fill(std::vector<std::byte>(width), *count)));
  }

  // Elements are in the buffer, or behind the table of a file of more than 2 GB.
  void add_constant(const std::string& name, uint32_t buffer, std::vector<int64_t> dims, const SourceValue& value,
                    SourceGraph& graph) {
    if (buffer >= buffers_.count) fail(ErrorCode::parse, "the buffer of `{}` is not there", printable(name));
    const uint64_t table = file_.table_at(buffers_, buffer);
    const FlatVector inside = file_.vector(table, buffer_field::data, 1);
    uint64_t begin = file_.scalar<uint64_t>(table, buffer_field::offset, 0);
    uint64_t size = begin > 1 ? file_.scalar<uint64_t>(table, buffer_field::size, 0) : 0;
    if (begin <= 1) {
      begin = inside.begin;
      size = inside.count;
    }
    if (size == 0) return;
    const uint64_t needed = bytes_needed(value.dtype, dims);
    if (begin > file_.size() || size > file_.size() - begin) {
      fail(ErrorCode::parse, "the elements of `{}` are beyond the end of the file", printable(name));
    }
    if (value.dtype == tensor::DType::string || value.dtype == tensor::DType::undefined) return;
    if (needed > size) {
      fail(ErrorCode::parse, "`{}` has {} bytes of elements, which is less than its shape needs", printable(name),
           size);
    }
    graph.constants.emplace(name,
                            tensor::Tensor(value.dtype, std::move(dims), tensor::make_mapped(mapped_, begin, needed)));
  }

  template <typename T>
  std::vector<int64_t> integers(const FlatVector& vector) {
    spend(vector.count);
    std::vector<int64_t> found;
    for (uint64_t i = 0; i < vector.count; ++i) found.push_back(file_.number<T>(vector.begin + i * sizeof(T)));
    return found;
  }

  std::vector<std::string> names(uint64_t table, unsigned field) {
    std::vector<std::string> found;
    for (const int64_t number : integers<int32_t>(file_.vector(table, field, 4))) {
      if (number >= static_cast<int64_t>(names_.size()) || number < -1) {
        fail(ErrorCode::parse, "there is no tensor {}", number);
      }
      found.push_back(number == -1 ? std::string() : names_[static_cast<size_t>(number)]);
      spend(found.back().size() / 16);
    }
    return found;
  }

  std::vector<SourcePort> ports(uint64_t table, unsigned field) {
    std::vector<SourcePort> found;
    for (const std::string& name : names(table, field)) {
      if (name.empty()) fail(ErrorCode::parse, "an input or output of the graph is no tensor");
      found.push_back({name, name});
    }
    return found;
  }

  SourceNode read_node(uint64_t table) {
    SourceNode node;
    const uint32_t code = file_.scalar<uint32_t>(table, op_field::opcode, 0);
    if (code >= codes_.count) fail(ErrorCode::parse, "there is no operator {}", code);
    node.op = operator_name(file_.table_at(codes_, code));
    node.inputs = names(table, op_field::inputs);
    node.outputs = names(table, op_field::outputs);
    if (node.outputs.empty()) node.outputs.push_back(fmt::format("operator_{}", ++unnamed_));
    node.name = node.outputs.front();
    const uint64_t options = file_.field(table, op_field::options);
    read_options(file_, options == 0 ? 0 : file_.follow(options), node.op, node);
    return node;
  }

  std::string operator_name(uint64_t table) const {
    const int32_t number = std::max<int32_t>(file_.scalar<int32_t>(table, code::builtin, 0),
                                             file_.scalar<int8_t>(table, code::short_builtin, 0));
    if (number == kCustom) return fmt::format("CUSTOM:{}", printable(file_.text(table, code::custom).substr(0, 100)));
    const std::string_view known = tflite_operator(static_cast<uint64_t>(std::max(number, 0)));
    return known.empty() ? fmt::format("BUILTIN_{}", number) : std::string(known);
  }

  uint64_t signature_table(const std::string& wanted) const {
    const FlatVector signatures = file_.vector(root_, model::signatures, 4);
    for (uint64_t i = 0; i < signatures.count; ++i) {
      const uint64_t table = file_.table_at(signatures, i);
      if (file_.text(table, signature_field::key) == wanted) return table;
    }
    fail(ErrorCode::usage, "the model has no signature `{}`", printable(wanted));
  }

  void name_ports(uint64_t signature, SourceGraph& graph) {
    name_ports(file_.vector(signature, signature_field::inputs, 4), graph.inputs);
    name_ports(file_.vector(signature, signature_field::outputs, 4), graph.outputs);
  }

  void name_ports(const FlatVector& rows, std::vector<SourcePort>& ports) {
    spend(rows.count);
    for (uint64_t i = 0; i < rows.count; ++i) {
      const uint64_t row = file_.table_at(rows, i);
      const uint32_t number = file_.scalar<uint32_t>(row, 1, 0);
      if (number >= tensors_of_main_.size()) fail(ErrorCode::parse, "there is no tensor {}", number);
      const auto port = std::ranges::find(ports, tensors_of_main_[number], &SourcePort::value);
      if (port != ports.end()) port->name = file_.text(row, 0);
    }
  }

  void spend(uint64_t count) {
    spent_ += count;
    if (spent_ > kMostItems) fail(ErrorCode::limit, "the model lists more than {} tensors and operands", kMostItems);
  }

  std::shared_ptr<const MappedFile> mapped_;
  FlatBuffer file_;
  uint64_t root_;
  uint64_t spent_ = 0;
  uint64_t unnamed_ = 0;
  FlatVector buffers_;
  FlatVector codes_;
  std::vector<std::string> names_;  // of the tensors of the graph that is being read
  std::vector<std::string> tensors_of_main_;
};

}  // namespace

SourceModel read_tflite_source(const std::shared_ptr<const MappedFile>& file, const std::string& signature) {
  return SourceReader(file).read(signature);
}

}  // namespace assay::tensorflow
