#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "tensorflow/flat_buffer.h"
#include "tensorflow/read.h"
#include "tensorflow/tflite_schema.h"

namespace assay::tensorflow {
namespace {

constexpr uint64_t kMostListed = uint64_t{1} << 23;  // one vector or text may be listed by many tables
constexpr uint64_t kTextShare = 16;                  // bytes of a text that count as one listed thing

class TfliteReader {
 public:
  explicit TfliteReader(Bytes bytes) : file_(bytes) {
    if (bytes.size() < 8 || file_.number<uint32_t>(4) != 0x334c4654) {  // TFL3
      fail(ErrorCode::parse, "the file is no TFLite model");
    }
    root_ = file_.root();
  }

  results::TensorFlowListing read() {
    listing_.kind = "TFLite";
    listing_.version = fmt::format("{}", file_.scalar<uint32_t>(root_, model::version, 0));
    listing_.description = file_.text(root_, model::description);
    read_operators();
    buffers_ = file_.vector(root_, model::buffers, 4);
    const FlatVector graphs = file_.vector(root_, model::subgraphs, 4);
    for (uint64_t i = 0; i < graphs.count; ++i) read_graph(file_.table_at(graphs, i));
    read_signatures();
    return std::move(listing_);
  }

 private:
  void read_operators() {
    const FlatVector codes = file_.vector(root_, model::operator_codes, 4);
    for (uint64_t i = 0; i < codes.count; ++i) {
      const uint64_t table = file_.table_at(codes, i);
      const int32_t number = std::max<int32_t>(file_.scalar<int32_t>(table, code::builtin, 0),
                                               file_.scalar<int8_t>(table, code::short_builtin, 0));
      const std::string_view custom = file_.text(table, code::custom);
      budget(1 + custom.size() / kTextShare);
      const std::string_view known = tflite_operator(static_cast<uint64_t>(std::max(number, 0)));
      if (number == static_cast<int32_t>(kCustom))
        operators_.push_back(fmt::format("CUSTOM:{}", printable(custom)));
      else
        operators_.push_back(known.empty() ? fmt::format("BUILTIN_{}", number) : std::string(known));
    }
  }

  void read_graph(uint64_t table) {
    results::TensorFlowGraph graph{.name = std::string(file_.text(table, subgraph::name))};
    tensors_.clear();
    budget(1 + graph.name.size() / kTextShare);
    const FlatVector tensors = file_.vector(table, subgraph::tensors, 4);
    budget(tensors.count);
    for (uint64_t i = 0; i < tensors.count; ++i) read_tensor(file_.table_at(tensors, i));
    graph.inputs = tensors_of(table, subgraph::inputs);
    graph.outputs = tensors_of(table, subgraph::outputs);
    const FlatVector operators = file_.vector(table, subgraph::operators, 4);
    budget(operators.count);
    for (uint64_t i = 0; i < operators.count; ++i) graph.nodes.push_back(node(file_.table_at(operators, i)));
    graph.node_count = graph.nodes.size();
    tensors_of_graphs_.push_back(tensors_);
    listing_.graphs.push_back(std::move(graph));
  }

  void read_tensor(uint64_t table) {
    results::ValueInfo info{.name = std::string(file_.text(table, tensor_field::name)), .type = {}, .shape = {}};
    budget(info.name.size() / kTextShare);
    info.type = tflite_type(file_.scalar<uint8_t>(table, tensor_field::type, 0));
    info.ranked = true;
    FlatVector shape = file_.vector(table, tensor_field::shape_signature, 4);
    if (shape.count == 0) shape = file_.vector(table, tensor_field::shape, 4);
    budget(shape.count);
    for (uint64_t i = 0; i < shape.count; ++i) {
      const int32_t dim = file_.number<int32_t>(shape.begin + i * 4);
      info.shape.push_back({dim < 0 ? std::nullopt : std::optional<int64_t>(dim), ""});
    }
    add_constant(file_.scalar<uint32_t>(table, tensor_field::buffer, 0), info);
    if (const uint64_t at = file_.field(table, tensor_field::quantization); at != 0) {
      const uint64_t scales = file_.vector(file_.follow(at), quantization::scale, 4).count;
      listing_.quantized_tensors += scales == 1 ? 1 : 0;
      listing_.quantized_by_axis += scales > 1 ? 1 : 0;
    }
    tensors_.push_back(std::move(info));
  }

  // Elements are in the buffer, or behind the table of a file of more than 2 GB.
  void add_constant(uint32_t buffer, results::ValueInfo& info) {
    if (buffer == 0) return;
    if (buffer >= buffers_.count)
      return warn(info.name, fmt::format("it is said to be in buffer {}, which is not there", buffer));
    const uint64_t table = file_.table_at(buffers_, buffer);
    const uint64_t inside = file_.vector(table, 0, 1).count;
    const uint64_t offset = file_.scalar<uint64_t>(table, 1, 0);
    const uint64_t outside = offset > 1 ? file_.scalar<uint64_t>(table, 2, 0) : 0;
    if (offset > 1 && (offset > file_.size() || outside > file_.size() - offset)) {
      return warn(info.name, "its elements are beyond the end of the file");
    }
    if (inside + outside == 0) return;
    info.is_initializer = true;
    ++listing_.constant_count;
    listing_.constant_bytes += inside + outside;
  }

  std::vector<results::ValueInfo> tensors_of(uint64_t table, unsigned field) {
    std::vector<results::ValueInfo> found;
    const FlatVector numbers = file_.vector(table, field, 4);
    budget(numbers.count);
    for (uint64_t i = 0; i < numbers.count; ++i) {
      const int32_t number = file_.number<int32_t>(numbers.begin + i * 4);
      if (number == -1) continue;  // an operand that is left out
      if (number < 0 || static_cast<uint64_t>(number) >= tensors_.size()) {
        warn("", fmt::format("there is no tensor {}", number));
        continue;
      }
      const results::ValueInfo& info = tensors_[static_cast<size_t>(number)];
      budget(info.shape.size() + info.name.size() / kTextShare);
      found.push_back(info);
    }
    return found;
  }

  results::TensorFlowNode node(uint64_t table) {
    const uint32_t code = file_.scalar<uint32_t>(table, op_field::opcode, 0);
    results::TensorFlowNode found;
    found.op = code < operators_.size() ? operators_[code] : "?";
    budget(found.op.size() / kTextShare);
    if (code >= operators_.size()) warn("", fmt::format("there is no operator {}", code));
    for (const results::ValueInfo& info : tensors_of(table, op_field::inputs)) found.inputs.push_back(info.name);
    for (const results::ValueInfo& info : tensors_of(table, op_field::outputs)) found.outputs.push_back(info.name);
    if (!found.outputs.empty()) found.name = found.outputs.front();
    ++listing_.op_histogram[found.op];
    return found;
  }

  void read_signatures() {
    const FlatVector signatures = file_.vector(root_, model::signatures, 4);
    budget(signatures.count);
    for (uint64_t i = 0; i < signatures.count; ++i) {
      const uint64_t table = file_.table_at(signatures, i);
      const uint32_t graph = file_.scalar<uint32_t>(table, 4, 0);
      results::TensorFlowSignature signature{.name = std::string(file_.text(table, 2)), .tags = {}};
      budget(signature.name.size() / kTextShare);
      signature.inputs = arguments(table, 0, graph);
      signature.outputs = arguments(table, 1, graph);
      listing_.signatures.push_back(std::move(signature));
    }
  }

  std::vector<std::pair<std::string, results::ValueInfo>> arguments(uint64_t table, unsigned field, uint32_t graph) {
    std::vector<std::pair<std::string, results::ValueInfo>> found;
    const FlatVector rows = file_.vector(table, field, 4);
    budget(rows.count);
    for (uint64_t i = 0; i < rows.count; ++i) {
      const uint64_t row = file_.table_at(rows, i);
      const uint32_t number = file_.scalar<uint32_t>(row, 1, 0);
      const bool is_there = graph < tensors_of_graphs_.size() && number < tensors_of_graphs_[graph].size();
      if (!is_there) continue;
      const results::ValueInfo& info = tensors_of_graphs_[graph][number];
      budget(info.shape.size() + (info.name.size() + file_.text(row, 0).size()) / kTextShare);
      found.emplace_back(file_.text(row, 0), info);
    }
    return found;
  }

  void warn(const std::string& name, std::string message) {
    if (listing_.findings.size() < 100) {
      listing_.findings.push_back(
          {.severity = Severity::warning, .code = "tflite", .node = name, .message = std::move(message)});
    }
  }

  void budget(uint64_t count) {
    listed_ += count;
    if (listed_ > kMostListed) fail(ErrorCode::limit, "the model lists more than {} tensors and operands", kMostListed);
  }

  FlatBuffer file_;
  uint64_t root_ = 0;
  uint64_t listed_ = 0;
  FlatVector buffers_;
  std::vector<std::string> operators_;
  std::vector<results::ValueInfo> tensors_;
  std::vector<std::vector<results::ValueInfo>> tensors_of_graphs_;
  results::TensorFlowListing listing_;
};

}  // namespace

results::TensorFlowListing read_tflite(Bytes bytes) { return TfliteReader(bytes).read(); }

}  // namespace assay::tensorflow
