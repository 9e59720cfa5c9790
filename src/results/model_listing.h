#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/diagnostics.h"
#include "results/cost.h"
#include "results/memory_needs.h"
#include "tensor/tensor.h"

namespace assay::results {

// One dim of a type: a number, a symbolic text, or not known.
struct ListedDim {
  std::optional<int64_t> value;
  std::string symbol;
};

// A tensor's name with what is known of its type.
struct ValueInfo {
  std::string name;
  std::string type;  // `float32` for tensors, else as `seq(float32)`; empty: not known
  bool ranked = false;
  std::vector<ListedDim> shape;
  bool is_initializer = false;
};

struct InitializerInfo {
  ValueInfo info;
  const tensor::Tensor* tensor = nullptr;  // null where it is sparse
  std::string external_location;
};

enum class GraphRole { main, body, function };

struct GraphListing {
  GraphRole role = GraphRole::main;
  std::string name;
  std::string attribute;  // of bodies: the attribute that holds it
  std::string doc;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  size_t initializer_count = 0;
  std::vector<InitializerInfo> initializers;  // empty where they are not asked for
  size_t node_count = 0;
  size_t listed_count = 0;  // nodes that pass the filters
};

struct NodeListing {
  size_t index = 0;
  std::string name;
  std::string op;
  std::string domain;
  std::string_view type_attribute = {};  // that holds the element type of the result, in a Cast
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::optional<Cost> cost;
};

struct AttributeListing {
  using Value = std::variant<std::monostate, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                             std::vector<std::string>, std::vector<const tensor::Tensor*>>;
  std::string name;
  std::string_view type;  // ONNX's word, as `INTS`
  std::string reference;  // set where it names an attribute of the enclosing function
  Value value;
};

struct FunctionListing {
  std::string domain;
  std::string name;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;
  std::vector<std::pair<std::string, int64_t>> opset_imports;
  size_t node_count = 0;
};

// Amount of weights of one element type.
struct WeightCount {
  uint64_t tensors = 0;
  uint64_t elements = 0;
  uint64_t bytes = 0;
};

struct QuantizationSummary {
  uint64_t quantize_nodes = 0;
  uint64_t dequantize_nodes = 0;
  uint64_t quantized_op_nodes = 0;               // QLinearConv, MatMulInteger, …
  std::map<std::string, uint64_t> weight_types;  // dequantised weights by element type
  uint64_t per_tensor = 0;                       // granularity of dequantised weights
  uint64_t per_axis = 0;
  uint64_t blocked = 0;
  bool empty() const { return quantize_nodes + dequantize_nodes + quantized_op_nodes == 0; }
};

// A node that holds a part of the model as an execution provider of ONNX Runtime has compiled it.
struct CompiledPart {
  std::string node;      // by its name, or its first result
  std::string provider;  // empty: not told
  std::string version;   // of the provider's tools
  std::string hardware;
  std::string name;       // of the part
  uint64_t bytes = 0;     // of the code inside of the model; 0: it lies elsewhere
  std::string file;       // beside the model; empty: inside, or in another node
  bool has_code = false;  // otherwise another node of the same provider holds it
};

// Facts of a model as a whole.
struct ModelOverview {
  std::string path;
  std::string name;
  int64_t ir_version = 0;
  std::optional<int64_t> opset;                                // of the default domain
  std::vector<std::pair<std::string, int64_t>> opset_imports;  // all, in file order
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  int64_t model_version = 0;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  size_t node_count = 0;                         // of the main graph
  size_t total_node_count = 0;                   // with bodies and functions
  std::map<std::string, uint64_t> op_histogram;  // of all nodes; `domain::Op` outside the default domain
  uint64_t parameter_count = 0;
  uint64_t parameter_bytes = 0;
  uint64_t external_bytes = 0;
  std::map<std::string, WeightCount> weights;  // initializers by element type
  WeightCount constants;                       // in Constant nodes
  QuantizationSummary quantization;
  std::vector<CompiledPart> compiled;
  std::optional<Cost> cost;                                 // of one run
  std::optional<MemoryNeeds> memory;                        // likewise
  std::optional<std::vector<std::string>> unbounded_sizes;  // values that only data decides and nothing bounds
  std::vector<FunctionListing> functions;
  std::vector<Diagnostic> findings;
  size_t findings_dropped = 0;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

// Receives a listing in the order in which it is read, one node at a time, so that a large model is never held twice.
class ModelListingSink {
 public:
  virtual ~ModelListingSink() = default;
  virtual void overview(const ModelOverview& overview) = 0;
  virtual void begin_graph(const GraphListing& graph) = 0;
  virtual void begin_node(const NodeListing& node) = 0;
  virtual void attribute(const AttributeListing& attribute) = 0;
  virtual void end_node() = 0;
  virtual void end_graph() = 0;
};

}  // namespace assay::results
