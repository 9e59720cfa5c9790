// A few random nodes, built from bytes: any operator of the schema with attributes, operands and shapes as they come,
// many of them hostile. Inference, the interpreter and the engine may refuse them with Error; anything else is a bug.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "engine/devices/cpu/device.h"
#include "engine/lowering/lower.h"
#include "engine/run/context.h"
#include "ir/edit.h"
#include "ops/inference.h"
#include "ops/interpreter.h"
#include "schema/schema.h"

namespace {

using namespace assay;
using tensor::Datum;
using tensor::DType;
using tensor::Tensor;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kHostile[] = {kLeast,  kLeast + 1, kMost, kMost - 1, 1LL << 31,    (1LL << 31) - 1, -(1LL << 31),
                                1 << 20, 1LL << 40,  -1,    -2,        -(1LL << 32), 65536,           255};
constexpr const char* kWords[] = {"",           "SAME_UPPER",
                                  "SAME_LOWER", "VALID",
                                  "NOTSET",     "linear",
                                  "nearest",    "cubic",
                                  "bilinear",   "align_corners",
                                  "asymmetric", "reflect",
                                  "edge",       "wrap",
                                  "constant",   "add",
                                  "mul",        "max",
                                  "min",        "none",
                                  "mean",       "sum",
                                  "forward",    "reverse",
                                  "Tanh",       "bidirectional",
                                  "ij,jk->ik",  "...i->i",
                                  "ii",         "LEFT",
                                  "RIGHT",      "DCR",
                                  "a.*",        "tf_crop_and_resize",
                                  "BRANCH_LEQ", "LEAF",
                                  "SOFTMAX",    "LINEAR",
                                  "RBF",        "TFIDF",
                                  "circular",   "tanh",
                                  "SUM",        "L1",
                                  "a",          "reflection",
                                  "[",          "->"};

class Source {
 public:
  Source(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }
  // From 0 to bound - 1.
  size_t below(size_t bound) { return (bound > 256 ? byte() * 256u + byte() : byte()) % bound; }
  bool chance(int of_256) { return byte() < of_256; }
  bool empty() const { return at_ >= size_; }

  int64_t integer() {
    const uint8_t kind = byte();
    if (kind < 16) return kHostile[below(std::size(kHostile))];
    return static_cast<int64_t>(kind % 13) - 4;
  }
  double real() {
    static constexpr double kNumbers[] = {0,   -0.0,     1,         -1,    0.5,          2,     -3.5, 1e30, 1e-40,
                                          NAN, INFINITY, -INFINITY, 1e300, 2147483648.0, -1e19, 0.1};
    return kNumbers[below(std::size(kNumbers))];
  }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
};

class Builder {
 public:
  explicit Builder(Source& source) : source_(source), edit_(model) {
    graph_ = edit_.add_graph(edit_.intern("fuzz"));
    edit_.header().ir_version = 12;
  }

  void build() {
    for (size_t i = source_.below(3); i < 3; ++i) add_node();
    edit_.set_outputs(graph_, results_);
  }

  ir::Model model;
  std::vector<ops::InputDatum> inputs;

 private:
  const schema::Schema& choose_operator() {
    const std::span<const schema::OperatorName> names = schema::operator_names();
    const schema::OperatorName& chosen = names[source_.below(names.size())];
    const std::vector<const schema::Schema*> versions = schema::schema_versions(chosen.domain, chosen.name);
    // One version of a domain holds for the whole model.
    const auto imported = versions_.find(chosen.domain);
    if (imported != versions_.end()) {
      const schema::Schema* same = schema::find_schema(chosen.domain, chosen.name, imported->second);
      return same ? *same : *versions.back();
    }
    const schema::Schema& result = source_.chance(160) ? *versions.back() : *versions[source_.below(versions.size())];
    versions_.emplace(result.domain, result.since);
    edit_.header().opset_imports.push_back({edit_.intern(result.domain), result.since});
    return result;
  }

  void add_node() {
    const schema::Schema& op = choose_operator();
    dtypes_.clear();
    const size_t most = std::min<size_t>(op.max_inputs, op.min_inputs + 4);
    const size_t count = source_.chance(8) ? source_.below(6) : op.min_inputs + source_.below(most - op.min_inputs + 1);
    std::vector<ir::ValueId> operands;
    for (uint32_t i = 0; i < count; ++i) operands.push_back(operand(op, i));
    std::vector<ir::Attribute> attributes;
    std::vector<ir::Symbol> names;
    const size_t outputs = source_.below(std::min<size_t>(op.max_outputs, 3) + 1);
    for (size_t i = 0; i < std::max<size_t>({outputs, op.min_outputs, 1}); ++i) names.push_back(fresh());
    ir::NodeSpec spec;
    spec.op = edit_.intern(op.name);
    spec.domain = edit_.intern(op.domain);
    spec.name = "node";
    spec.operands = operands;
    spec.results = names;
    const ir::NodeId node = edit_.add_node(graph_, spec);
    for (const schema::AttributeSchema& attribute : op.attributes) {
      if (attribute.required || source_.chance(100)) add_attribute(node, attribute);
    }
    results_.insert(results_.end(), model[node].results.begin(), model[node].results.end());
  }

  ir::Symbol fresh() { return edit_.intern(fmt::format("v{}", next_++)); }

  // None and one that nobody knows among them.
  DType any_dtype() { return DType{static_cast<int32_t>(source_.below(30))}; }

  DType choose_dtype(const schema::ArgumentSchema* argument, schema::DTypeSet allowed) {
    if (!argument || allowed == 0 || source_.chance(6)) return any_dtype();
    const auto known = dtypes_.find(argument->variable);
    if (known != dtypes_.end() && !argument->variable.empty()) return known->second;
    std::vector<DType> choices;
    for (int32_t number = 1; number <= 28; ++number) {
      if (allowed & schema::set_of(DType{number})) choices.push_back(DType{number});
    }
    const DType result = choices[source_.below(choices.size())];
    dtypes_.emplace(argument->variable, result);
    return result;
  }

  ir::ValueId operand(const schema::Schema& op, uint32_t index) {
    const uint8_t kind = source_.byte();
    if (kind < 16 && index >= op.min_inputs) return {};
    if (kind < 64 && !results_.empty()) return results_[source_.below(results_.size())];
    const schema::ArgumentSchema* argument = op.input(index);
    if (argument && argument->types.tensors == 0 && argument->types.sequences != 0) return sequence_input(*argument);
    const Tensor value = tensor(choose_dtype(argument, argument ? argument->types.tensors : 0));
    if (kind < 128) {
      ir::TensorEntry entry;
      entry.tensor = value;
      return edit_.add_initializer(graph_, fresh(), edit_.add_tensor(std::move(entry)));
    }
    return input(value, declared_type(value));
  }

  ir::ValueId input(Datum datum, ir::TypeId type) {
    const ir::ValueId id = edit_.add_input(graph_, fresh(), type);
    inputs.push_back({id, std::move(datum)});
    return id;
  }

  ir::ValueId sequence_input(const schema::ArgumentSchema& argument) {
    const DType dtype = choose_dtype(&argument, argument.types.sequences);
    std::vector<Datum> items;
    for (size_t i = source_.below(4); i > 0; --i) items.emplace_back(tensor(dtype));
    ir::Type type;
    type.kind = ir::TypeKind::sequence;
    type.element = model.types().unranked_tensor(dtype);
    return input(Datum::sequence(std::move(items)), model.types().intern(std::move(type)));
  }

  // Ranked with numbers or symbols, or without a rank.
  ir::TypeId declared_type(const Tensor& value) {
    if (source_.chance(24)) return model.types().unranked_tensor(value.dtype());
    std::vector<ir::DimId> dims;
    for (const int64_t dim : value.shape()) {
      const uint8_t kind = source_.byte();
      dims.push_back(kind < 128   ? model.dims().constant(dim)
                     : kind < 224 ? model.dims().symbol(edit_.intern(fmt::format("n{}", kind % 4)))
                                  : ir::kUnknownDim);
    }
    return model.types().tensor(value.dtype(), dims);
  }

  tensor::Shape shape() {
    static constexpr int64_t kDims[] = {1, 2, 3, 4, 0, 5, 1, 2, 3, 7, 1, 16};
    tensor::Shape result(source_.below(6));
    uint64_t count = 1;
    for (int64_t& dim : result) {
      dim = kDims[source_.below(std::size(kDims))];
      if (count * static_cast<uint64_t>(dim) > 512) dim = 1;
      count *= static_cast<uint64_t>(dim);
    }
    return result;
  }

  Tensor tensor(DType dtype) {
    const tensor::Shape dims = shape();
    size_t count = 1;
    for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
    if (dtype == DType::string) {
      std::vector<std::string> strings;
      for (size_t i = 0; i < count; ++i) strings.emplace_back(kWords[source_.below(std::size(kWords))]);
      return Tensor(dtype, dims, tensor::make_strings(std::move(strings)));
    }
    if (!tensor::packed_bytes(dtype, count)) return Tensor(dtype, dims, tensor::make_owned({}));
    if (tensor::is_integer(dtype)) return rounded<int64_t>(dtype, dims, count, [&] { return source_.integer(); });
    if (tensor::is_floating(dtype)) return rounded<double>(dtype, dims, count, [&] { return source_.real(); });
    std::vector<std::byte> bytes(*tensor::packed_bytes(dtype, count));
    const bool is_boolean = dtype == DType::boolean;
    for (std::byte& byte : bytes) byte = std::byte(is_boolean ? source_.byte() & 1 : source_.byte() & 0x41);
    return Tensor(dtype, dims, tensor::make_owned(std::move(bytes)));
  }

  // The first elements come from the source, the rest repeat them.
  template <typename C, typename Next>
  static Tensor rounded(DType dtype, const tensor::Shape& dims, size_t count, Next&& next) {
    std::vector<C> elements;
    for (size_t i = 0; i < count; ++i) elements.push_back(i < 12 ? next() : elements[i % 12]);
    std::vector<std::byte> bytes(*tensor::packed_bytes(dtype, count));
    tensor::store(dtype, std::span<const C>(elements), 0, bytes);
    return Tensor(dtype, dims, tensor::make_owned(std::move(bytes)));
  }

  void add_attribute(ir::NodeId node, const schema::AttributeSchema& attribute) {
    const ir::Symbol name = edit_.intern(attribute.name);
    switch (source_.chance(4) ? ir::AttributeType::integers : attribute.type) {
      case ir::AttributeType::integer:
        return edit_.set_attribute(node, ir::Attribute::of(name, source_.integer()));
      case ir::AttributeType::floating:
        return edit_.set_attribute(node, ir::Attribute::of(name, static_cast<float>(source_.real())));
      case ir::AttributeType::string:
        return edit_.set_attribute(node, ir::Attribute::of(name, ir::AttributeType::string, word()));
      case ir::AttributeType::integers:
        return add_list<int64_t>(node, name, ir::AttributeType::integers, [&] { return source_.integer(); });
      case ir::AttributeType::floats:
        return add_list<float>(node, name, ir::AttributeType::floats,
                               [&] { return static_cast<float>(source_.real()); });
      case ir::AttributeType::strings:
        return add_list<ir::Symbol>(node, name, ir::AttributeType::strings, [&] { return word(); });
      case ir::AttributeType::tensor:
        return add_tensor(node, name);
      case ir::AttributeType::graph:
        return add_body(node, name);
      default:
        return;
    }
  }

  ir::Symbol word() { return edit_.intern(kWords[source_.below(std::size(kWords))]); }

  template <typename T, typename Next>
  void add_list(ir::NodeId node, ir::Symbol name, ir::AttributeType type, Next&& next) {
    std::vector<T> items;
    for (size_t i = source_.below(8); i > 0; --i) items.push_back(next());
    const std::span<const T> kept = model.arena().copy(std::span<const T>(items));
    edit_.set_attribute(node, ir::Attribute::list<T>(name, type, kept));
  }

  void add_tensor(ir::NodeId node, ir::Symbol name) {
    ir::TensorEntry entry;
    entry.tensor = tensor(any_dtype());
    edit_.set_attribute(node, ir::Attribute::of(name, ir::AttributeType::tensor, edit_.add_tensor(std::move(entry))));
  }

  // Some inputs, one node on two values, and some of all these values as outputs.
  void add_body(ir::NodeId node, ir::Symbol name) {
    static constexpr const char* kOps[] = {"Identity", "Add", "Concat", "Not", "Shape", "Less"};
    const ir::GraphId body = edit_.add_graph(fresh());
    std::vector<ir::ValueId> values(model[node].operands.size());
    for (size_t i = 0; i < values.size(); ++i) values[i] = model[node].operands[i].value;
    std::erase(values, ir::ValueId{});
    for (size_t i = source_.below(5); i > 0; --i) {
      const DType dtype{static_cast<int32_t>(1 + source_.below(11))};
      values.push_back(
          edit_.add_input(body, fresh(), source_.chance(128) ? model.types().unranked_tensor(dtype) : ir::TypeId{}));
    }
    if (values.empty()) values.push_back(edit_.add_input(body, fresh()));
    ir::NodeSpec spec;
    const size_t op = source_.below(std::size(kOps));
    spec.op = edit_.intern(kOps[op]);
    std::vector<ir::ValueId> operands(op == 1 || op == 5 ? 2 : 1);
    for (ir::ValueId& operand : operands) operand = values[source_.below(values.size())];
    spec.operands = operands;
    const ir::Symbol result = fresh();
    spec.results = {&result, 1};
    values.push_back(model[edit_.add_node(body, spec)].results[0]);
    std::vector<ir::ValueId> outputs(source_.below(4));
    for (ir::ValueId& output : outputs) output = values[source_.below(values.size())];
    edit_.set_outputs(body, outputs);
    edit_.set_attribute(node, ir::Attribute::of(name, ir::AttributeType::graph, body));
  }

  Source& source_;
  ir::Edit edit_;
  ir::GraphId graph_;
  std::vector<ir::ValueId> results_;
  std::map<std::string_view, DType> dtypes_;  // of the node's type variables
  std::map<std::string_view, int64_t> versions_;
  uint32_t next_ = 0;
};

void infer(ir::Model& model) {
  ops::Inference inference(model);
  inference.run();
  for (uint32_t i = 0; i < model.value_slots(); ++i) inference.type(ir::ValueId{i}).text();
}

constexpr ops::InterpreterOptions kLimits = {
    .max_memory_bytes = uint64_t{64} << 20, .max_steps = 100, .max_work = 10'000'000};

std::vector<ir::ValueId> outputs_of(const ir::Model& model) {
  std::vector<ir::ValueId> wanted;
  for (const ir::Use& use : model.outputs(model.main_graph())) wanted.push_back(use.value);
  return wanted;
}

void run(const ir::Model& model, std::span<const ops::InputDatum> inputs) {
  ops::Interpreter interpreter(model, kLimits);
  interpreter.run(inputs, outputs_of(model), [](ir::ValueId, const Datum&) {});
}

// Inputs keep their ids when the model is lowered.
void run_on_engine(ir::Model& model, std::span<const ops::InputDatum> inputs) {
  static const std::unique_ptr<engine::Device> device = engine::cpu::make_device({});
  std::map<std::string, tensor::Shape> shapes;
  for (const ops::InputDatum& input : inputs) {
    if (input.datum.is_tensor()) shapes.emplace(model.text(model[input.value].name), input.datum.tensor().shape());
  }
  engine::fix_shapes(model, shapes);
  ir::Rewriter rewriter(model);
  engine::lower(model, rewriter);
  const engine::Program program(model, engine::Devices(*device), {});
  engine::Context(program, kLimits, false).run(inputs, outputs_of(model), [](ir::ValueId, const Datum&) {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Source source(data, size);
  Builder builder(source);
  builder.build();
  try {
    infer(builder.model);
  } catch (const Error&) {
  }
  try {
    run(builder.model, builder.inputs);
  } catch (const Error&) {
  }
  try {
    run_on_engine(builder.model, builder.inputs);
  } catch (const Error&) {
  }
  return 0;
}
