#include "debug/anonymize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/constants.h"
#include "ir/edit.h"
#include "ir/walk.h"
#include "ops/eval.h"
#include "tensor/elements.h"

namespace assay::debug {
namespace {

using ir::ValueId;

class Anonymizer {
 public:
  Anonymizer(const ir::Model& source, const AnonymizeOptions& options)
      : source_(source), options_(options), edit_(made_.model) {}

  std::optional<AnonymousModel> run() {
    if (!source_.functions().empty() || ir::live_graphs(source_).size() > 1) return std::nullopt;
    graph_ = edit_.add_graph(edit_.intern("graph"));
    edit_.header().ir_version = source_.header().ir_version;
    for (const ir::OpsetImport& import : source_.header().opset_imports) {
      edit_.header().opset_imports.push_back({intern(source_.text(import.domain)), import.version});
    }
    const ir::Graph& graph = source_[source_.main_graph()];
    for (const ValueId input : graph.inputs) add_input(input);
    for (const ValueId weight : graph.initializers) add_weight(weight);
    for (const ir::NodeId node : ir::nodes(source_, source_.main_graph())) add_node(node);
    std::vector<ValueId> outputs;
    for (const ir::Use& use : source_.outputs(source_.main_graph())) outputs.push_back(values_.at(use.value));
    edit_.set_outputs(graph_, outputs);
    return std::move(made_);
  }

 private:
  ir::Symbol intern(std::string_view text) { return edit_.intern(text); }

  bool is_output(ValueId value) const {
    return std::ranges::any_of(source_.outputs(source_.main_graph()),
                               [&](const ir::Use& use) { return use.value == value; });
  }

  // The new name of an input or a result.
  ir::Symbol name_of(ValueId value) {
    const std::string old(source_.text(source_[value].name));
    const bool is_interface = source_[value].kind == ir::ValueKind::input || is_output(value);
    if (!is_interface) return intern(fmt::format("v{}", count_++));
    if (!options_.renames_interface) return intern(old);
    const std::string fresh = fmt::format("{}_{}", is_output(value) ? "output" : "input", made_.names.size());
    made_.names[old] = fresh;
    return intern(fresh);
  }

  // Dims that are named lose their names.
  ir::TypeId type_of(ValueId value) {
    const ir::TypeId id = source_[value].type;
    if (!id || source_[id].kind != ir::TypeKind::tensor) return {};
    const ir::Type& type = source_[id];
    if (!type.ranked) return made_.model.types().unranked_tensor(type.dtype);
    std::vector<ir::DimId> dims;
    for (const ir::DimId dim : type.dims) {
      const std::optional<int64_t> size = source_.dims().as_constant(dim);
      dims.push_back(size ? made_.model.dims().constant(*size)
                          : made_.model.dims().symbol(intern(fmt::format("d{}", dim.index))));
    }
    return made_.model.types().tensor(type.dtype, std::move(dims));
  }

  void add_input(ValueId input) {
    values_[input] = edit_.add_input(graph_, name_of(input), type_of(input));
    const ir::TensorId constant = source_[input].constant;
    if (constant) edit_.set_default(values_[input], edit_.add_tensor({.tensor = weights(source_[constant].tensor)}));
  }

  void add_weight(ValueId weight) {
    if (source_[weight].kind != ir::ValueKind::initializer) return;
    const tensor::Tensor content = weights(source_[source_[weight].constant].tensor);
    const ir::Symbol name = is_output(weight) ? name_of(weight) : intern(fmt::format("w{}", count_++));
    values_[weight] = ir::add_initializer(edit_, {graph_, name, content});
  }

  // Random numbers of the same mean and spread; whole numbers say what a model does, and stay.
  tensor::Tensor weights(const tensor::Tensor& tensor) {
    const bool is_replaced = options_.replaces_weights && tensor::is_floating(tensor.dtype()) && tensor.count() > 1;
    if (!is_replaced) return tensor;
    std::vector<double> numbers = tensor::load_elements<double>(tensor);
    const auto count = static_cast<double>(numbers.size());
    double mean = 0, squares = 0;
    for (const double number : numbers) mean += number / count;
    for (const double number : numbers) squares += (number - mean) * (number - mean) / count;
    const double reach = std::sqrt(3 * squares);  // of even numbers around the mean
    const double lowest = *std::ranges::min_element(numbers);
    for (double& number : numbers) {
      number = mean + reach * (2 * next_random() - 1);
      if (lowest > 0) number = std::max(number, lowest);  // scales and variances stay what they are
    }
    return ops::make_rounded(tensor.dtype(), tensor.shape(), std::move(numbers));
  }

  double next_random() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }

  void add_node(ir::NodeId id) {
    const ir::Node& node = source_[id];
    std::vector<ValueId> operands;
    for (const ir::Use& use : node.operands) operands.push_back(use.value ? values_.at(use.value) : ValueId());
    std::vector<ir::Symbol> results;
    for (const ValueId result : node.results) results.push_back(result ? name_of(result) : ir::kEmpty);
    std::vector<ir::Attribute> attributes;
    for (const ir::Attribute& attribute : node.attributes) attributes.push_back(copied(attribute));
    const ir::NodeId made = edit_.add_node(graph_, {.op = intern(source_.text(node.op)),
                                                    .domain = intern(source_.text(node.domain)),
                                                    .name = edit_.keep(fmt::format("n{}", count_++)),
                                                    .operands = operands,
                                                    .results = results,
                                                    .attributes = attributes});
    for (size_t k = 0; k < node.results.size(); ++k) {
      if (!node.results[k]) continue;
      values_[node.results[k]] = made_.model[made].results[k];
      edit_.set_type(made_.model[made].results[k], type_of(node.results[k]));
    }
  }

  ir::Attribute copied(const ir::Attribute& attribute) {
    using Type = ir::AttributeType;
    const ir::Symbol name = intern(source_.text(attribute.name()));
    ir::Arena& arena = made_.model.arena();
    switch (attribute.type()) {
      case Type::integer:
        return ir::Attribute::of(name, attribute.integer());
      case Type::floating:
        return ir::Attribute::of(name, attribute.floating());
      case Type::string:
        return ir::Attribute::of(name, Type::string, intern(source_.text(attribute.string())));
      case Type::integers:
        return ir::Attribute::list(name, Type::integers, arena.copy(attribute.integers()));
      case Type::floats:
        return ir::Attribute::list(name, Type::floats, arena.copy(attribute.floats()));
      case Type::tensor:
        return ir::tensor_attribute(edit_, source_.text(attribute.name()),
                                    weights(source_[attribute.tensors().front()].tensor));
      case Type::strings: {
        std::vector<ir::Symbol> texts;
        for (const ir::Symbol text : attribute.strings()) texts.push_back(intern(source_.text(text)));
        return ir::Attribute::list(name, Type::strings, arena.copy(std::span<const ir::Symbol>(texts)));
      }
      default:
        fail(ErrorCode::unsupported, "the attribute `{}` cannot be made anew", source_.text(attribute.name()));
    }
  }

  const ir::Model& source_;
  const AnonymizeOptions& options_;
  AnonymousModel made_;
  ir::Edit edit_;
  ir::GraphId graph_;
  std::map<ValueId, ValueId> values_;
  uint64_t count_ = 0;
  uint64_t state_ = 42;
};

}  // namespace

std::optional<AnonymousModel> anonymize(const ir::Model& model, const AnonymizeOptions& options) {
  return Anonymizer(model, options).run();
}

}  // namespace assay::debug
