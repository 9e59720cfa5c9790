#include "debug/causes/counterpart.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "debug/causes/constant_changes.h"
#include "debug/causes/layer_trial.h"
#include "debug/causes/lower_types.h"
#include "ir/naming.h"
#include "ir/queries.h"
#include "ops/evaluate.h"
#include "ops/inference.h"
#include "ops/resolve.h"
#include "ops/traits.h"
#include "tensor/casts.h"

namespace assay::debug {
namespace {

constexpr int kMostBetween = 16;  // nodes of the other model between values that correspond
constexpr size_t kMostTold = 3;

using ir::NodeId;
using ir::ValueId;

std::string quoted(std::string_view text) { return fmt::format("`{}`", printable(text)); }

// Computes values of a model from constants and from values that are given.
class Evaluation {
 public:
  enum class Mode { exact, declared };
  Evaluation(const ir::Model& model, OperandSource known, Mode mode)
      : model_(model), known_(std::move(known)), oracle_(model), types_(model), mode_(mode) {
    if (mode == Mode::declared) types_.run();
  }

  // An empty datum if it depends on something else.
  Datum value(ValueId value) { return value_of(value, 0); }
  // Known in declared mode.
  const ops::Inference& types() const { return types_; }

  // The results of a node, or none.
  std::vector<Datum> results(NodeId node, int depth = 0) {
    std::map<ValueId, Datum> operands;
    const auto add = [&](ValueId operand) {
      if (operand && !operands.contains(operand)) operands[operand] = value_of(operand, depth + 1);
      return !operand || !operands[operand].is_none();
    };
    for (const ir::Use& use : model_[node].operands) {
      if (!add(use.value)) return {};
    }
    for (const ValueId operand : oracle_.captured(node)) {
      if (!add(operand)) return {};
    }
    const OperandSource source = [&](ValueId operand) { return operands.at(operand); };
    const std::variant<std::vector<Datum>, Error> made =
        attempt([&] { return mode_ == Mode::exact ? oracle_.exact(node, source) : oracle_.declared(node, source); });
    const std::vector<Datum>* const results = std::get_if<std::vector<Datum>>(&made);
    return results == nullptr ? std::vector<Datum>() : *results;
  }

 private:
  Datum value_of(ValueId value, int depth) {
    if (depth > 0) {
      if (const Datum known = known_(value); !known.is_none()) return carried(value, known);
    }
    if (const ir::TensorId id = model_[value].constant) return carried(value, Datum(model_[id].tensor));
    const NodeId node = model_[value].producer;
    if (!node || depth > kMostBetween) return {};
    const std::vector<Datum> made = results(node, depth);
    for (size_t k = 0; k < made.size() && k < model_[node].results.size(); ++k) {
      if (model_[node].results[k] == value) return made[k];
    }
    return {};
  }

  // Floats as float64, or in the type that this model gives the value.
  Datum carried(ValueId value, const Datum& datum) const {
    if (mode_ == Mode::exact || !is_numeric(datum) || !tensor::is_floating(datum.declared())) return ops::widen(datum);
    const ops::Type& type = types_.type(value);
    const tensor::DType declared = type.is_tensor() && tensor::is_floating(type.dtype) ? type.dtype : datum.declared();
    if (datum.tensor().dtype() == declared) return datum;
    const Numbers numbers = numbers_of(datum);
    std::vector<std::byte> bytes(tensor::packed_bytes(declared, numbers.size()).value_or(0));
    tensor::store(declared, std::span<const double>(numbers), 0, bytes);
    return Datum(tensor::Tensor(declared, datum.tensor().shape(), tensor::make_owned(std::move(bytes))));
  }

  const ir::Model& model_;
  OperandSource known_;
  LayerOracle oracle_;
  ops::Inference types_;
  Mode mode_;
};

class Comparison {
 public:
  Comparison(const CauseCase& given, const Counterpart& other) : given_(given), other_(other), model_(given.model) {
    for (const auto& [mine, theirs] : other.values) mine_.emplace(theirs, mine);
    for (const auto& [value, datum] : given.accused.operands) operands_.emplace(value, datum);
  }

  std::optional<Cause> run() {
    const Accused& accused = given_.accused;
    const auto found = other_.values.find(model_[accused.node].results[accused.result]);
    const NodeId node = found == other_.values.end() ? NodeId() : ir::producer(other_.model, found->second);
    if (!node) return std::nullopt;
    const Datum exact = evaluated(found->second, Evaluation::Mode::exact);
    if (!gives(exact)) return narrower(found->second);
    compare(accused.node, node);
    for (const NodeId before : grouped()) {
      const NodeId theirs = before.index < other_.nodes.size() ? other_.nodes[before.index] : NodeId();
      if (theirs) compare(before, theirs);
    }
    if (told_.empty()) {
      const std::string type = narrow_type(found->second);
      if (!type.empty()) return Cause{"precision", "the other model computes it in " + type};
      return Cause{"operator", "the other model computes it by " + nodes_text(node)};
    }
    if (told_.size() > kMostTold) told_.resize(kMostTold);
    return Cause{word_, join(told_, "; ")};
  }

 private:
  Datum evaluated(ValueId value, Evaluation::Mode mode) const {
    const OperandSource known = [this](ValueId theirs) {
      const auto mine = mine_.find(theirs);
      const auto datum = mine == mine_.end() ? operands_.end() : operands_.find(mine->second);
      return datum == operands_.end() ? Datum() : datum->second;
    };
    return Evaluation(other_.model, known, mode).value(value);
  }

  // True if this is what the side gave.
  bool gives(const Datum& result) const {
    const Accused& accused = given_.accused;
    if (!is_numeric(result)) return false;
    if (result.tensor().shape() != accused.given.tensor().shape()) return false;
    if (accused.given.tensor().shape() != accused.exact.tensor().shape()) return true;
    return Observation(accused).evidence(numbers_of(result)).value_or(0) > 0;
  }

  // Precision, if the layer computed in the types that the other model declares gives what the side gave.
  std::optional<Cause> narrower(ValueId value) {
    const Accused& accused = given_.accused;
    const Datum declared = evaluated(value, Evaluation::Mode::declared);
    if (!is_numeric(declared) || accused.given.tensor().shape() != accused.exact.tensor().shape()) return std::nullopt;
    const Observation seen(accused);
    const Numbers numbers = numbers_of(declared);
    if (numbers.size() != seen.given().size() || !is_off_alike(seen, numbers)) return std::nullopt;
    const std::string type = narrow_type(value);
    if (type.empty()) return std::nullopt;
    return Cause{"precision", "the other model computes it in " + type};
  }

  // The 16-bit type among the values from which a value of the other model is computed.
  std::string narrow_type(ValueId value) {
    const ops::Inference& inference = constants(other_.model).types();
    std::vector<ValueId> open = {value};
    for (size_t i = 0; i < open.size() && i < kMostBetween; ++i) {
      const ops::Type& type = inference.type(open[i]);
      const bool is_half = type.dtype == tensor::DType::float16 || type.dtype == tensor::DType::bfloat16;
      if (type.is_tensor() && is_half) return tensor::name(type.dtype);
      const NodeId node = ir::producer(other_.model, open[i]);
      if (!node || (i > 0 && mine_.contains(open[i]))) continue;
      for (const ir::Use& use : other_.model[node].operands) {
        if (use.value) open.push_back(use.value);
      }
    }
    return {};
  }

  std::vector<NodeId> grouped() const {
    std::vector<NodeId> nodes;
    const std::vector<std::string>& names = given_.accused.error.group;
    if (names.empty()) return nodes;
    for (const NodeId node : ir::nodes(model_, model_.main_graph())) {
      if (std::ranges::find(names, ir::known_name(model_, node)) != names.end()) nodes.push_back(node);
    }
    return nodes;
  }

  void tell(std::string_view word, NodeId node, std::string text) {
    if (word_.empty()) word_ = word;
    if (node != given_.accused.node) text += fmt::format(" (of {})", quoted(ir::known_name(model_, node)));
    told_.push_back(std::move(text));
  }

  void compare(NodeId mine, NodeId theirs) {
    const ir::Node &a = model_[mine], &b = other_.model[theirs];
    const std::string_view own = model_.text(a.op), other = other_.model.text(b.op);
    if (own != other || model_.text(a.domain) != other_.model.text(b.domain)) {
      // A Cast or a quantizer that was put behind the layer is looked through.
      const ops::Traits& traits = ops::traits(other_.model, theirs);
      const bool is_behind = traits.is(ops::Nature::conversion) || traits.is(ops::Nature::quantization);
      const NodeId before = is_behind ? ir::producer(other_.model, ir::operand(other_.model, theirs, 0)) : NodeId();
      if (before && !mine_.contains(ir::operand(other_.model, theirs, 0))) return compare(mine, before);
      return tell("operator", mine, fmt::format("it is {}, in the other model {}", printable(own), printable(other)));
    }
    compare_attributes(mine, theirs);
    compare_operands(mine, theirs);
    const bool has_nodes = !model_.bodies(a).empty() || ops::Resolver(model_)[mine].function != nullptr;
    if (told_.empty() && has_nodes) tell("body", mine, "the nodes in it compute something else in the other model");
  }

  void compare_operands(NodeId mine, NodeId theirs) {
    const std::span<const ir::Use> a = model_[mine].operands, b = other_.model[theirs].operands;
    if (are_turned(a, b)) return tell("inputs", mine, "its first two inputs are swapped in the other model");
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      const ValueId own = i < a.size() ? a[i].value : ValueId(), other = i < b.size() ? b[i].value : ValueId();
      if (own && !other)
        tell("inputs", mine, fmt::format("it has no input {} ({}) in the other model", i, name_of(own)));
      else if (!own && other)
        tell("inputs", mine, fmt::format("it has an input {} in the other model", i));
      else if (own)
        compare_operand(mine, i, {own, other});
    }
  }

  bool are_turned(std::span<const ir::Use> a, std::span<const ir::Use> b) {
    if (a.size() < 2 || b.size() < 2 || !a[0].value || !a[1].value || !b[0].value || !b[1].value) return false;
    return corresponds(a[0].value, b[1].value) && corresponds(a[1].value, b[0].value) &&
           !(corresponds(a[0].value, b[0].value) && corresponds(a[1].value, b[1].value));
  }

  bool corresponds(ValueId mine, ValueId theirs) {
    if (is_constant(model_, mine) && is_constant(other_.model, theirs))
      return constant_change(constant_of(model_, mine), constant_of(other_.model, theirs)).text.empty();
    const auto found = mine_.find(theirs);
    return found != mine_.end() && found->second == mine;
  }

  void compare_operand(NodeId node, size_t index, const std::pair<ValueId, ValueId>& operand) {
    const auto [mine, theirs] = operand;
    const bool is_mine = is_constant(model_, mine), is_theirs = is_constant(other_.model, theirs);
    if (is_mine && is_theirs) {
      const ConstantChange found = constant_change(constant_of(model_, mine), constant_of(other_.model, theirs));
      if (found.text.empty()) return;
      const NodeId maker = ir::producer(other_.model, theirs);
      const bool is_quantized = maker && ops::traits(other_.model, maker).decodes() && !ir::producer(model_, mine);
      const std::string_view word = is_quantized ? "quantized" : found.is_of_type ? "precision" : "constant";
      return tell(word, node,
                  fmt::format("its constant {} {}{}", name_of(mine),
                              is_quantized ? "is quantized in the other model, and " : "", found.text));
    }
    if (is_mine != is_theirs)
      return tell("inputs", node,
                  fmt::format("its input {} is {}constant, in the other model it is {}", index, is_mine ? "" : "not ",
                              is_theirs ? "constant" : "computed"));
    compare_computed(node, index, {mine, theirs});
  }

  void compare_computed(NodeId node, size_t index, const std::pair<ValueId, ValueId>& operand) {
    const auto [mine, theirs] = operand;
    const auto found = mine_.find(theirs);
    if (found != mine_.end()) {
      if (found->second == mine) return;
      return tell(
          "inputs", node,
          fmt::format("its input {} is {}, in the other model {}", index, name_of(mine), name_of(found->second)));
    }
    const NodeId maker = ir::producer(other_.model, theirs);
    if (maker && ops::traits(other_.model, maker).decodes())
      tell("quantized", node, fmt::format("its input {} is quantized in the other model", index));
  }

  void compare_attributes(NodeId mine, NodeId theirs) {
    const schema::Schema* const schema = ops::Resolver(model_)[mine].schema;
    if (schema == nullptr) return;
    for (const schema::AttributeSchema& attribute : schema->attributes) {
      const std::string own = text_of(model_, model_[mine], attribute);
      const std::string other = text_of(other_.model, other_.model[theirs], attribute);
      if (own == other) continue;
      const auto shown = [](const std::string& text) { return text.empty() ? "absent" : text; };
      tell("attribute", mine,
           fmt::format("its attribute `{}` is {}, in the other model {}", attribute.name, shown(own), shown(other)));
    }
    compare_tensors(mine, theirs);
  }

  // Attributes that are tensors: the number of a Constant.
  void compare_tensors(NodeId mine, NodeId theirs) {
    const ir::Attribute *const a = model_.find_attribute(model_[mine], "value"), *const b = other_.model.find_attribute(
                                                                                     other_.model[theirs], "value");
    const bool are_tensors = a != nullptr && b != nullptr && a->type() == ir::AttributeType::tensor &&
                             b->type() == ir::AttributeType::tensor && !a->is_reference() && !b->is_reference();
    if (!are_tensors) return;
    const ConstantChange change =
        constant_change(Datum(model_[a->tensors()[0]].tensor), Datum(other_.model[b->tensors()[0]].tensor));
    if (!change.text.empty()) tell(change.is_of_type ? "precision" : "constant", mine, "its number " + change.text);
  }

  // Numbers and words; empty for others, and if it is neither written nor has a default.
  static std::string text_of(const ir::Model& model, const ir::Node& node, const schema::AttributeSchema& schema) {
    const ir::Attribute* const written = model.find_attribute(node, schema.name);
    if (written == nullptr || written->is_reference()) return default_text(schema);
    switch (written->type()) {
      case ir::AttributeType::integer:
        return fmt::format("{}", written->integer());
      case ir::AttributeType::floating:
        return fmt::format("{:.6g}", written->floating());
      case ir::AttributeType::string:
        return printable(model.text(written->string()));
      case ir::AttributeType::integers:
        return fmt::format("[{}]", fmt::join(written->integers(), ","));
      case ir::AttributeType::floats:
        return fmt::format("[{:.6g}]", fmt::join(written->floats(), ","));
      case ir::AttributeType::strings: {
        std::vector<std::string> words;
        for (const ir::Symbol word : written->strings()) words.push_back(printable(model.text(word)));
        return fmt::format("[{}]", join(words, ","));
      }
      default:
        return {};
    }
  }

  static std::string default_text(const schema::AttributeSchema& schema) {
    if (const auto* const integer = std::get_if<int64_t>(&schema.value)) return fmt::format("{}", *integer);
    if (const auto* const number = std::get_if<float>(&schema.value)) return fmt::format("{:.6g}", *number);
    if (const auto* const word = std::get_if<std::string_view>(&schema.value)) return std::string(*word);
    return {};
  }

  std::string name_of(ValueId value) const { return quoted(model_.text(model_[value].name)); }

  // Computes constants of one of the two models.
  Evaluation& constants(const ir::Model& model) {
    std::optional<Evaluation>& kept = &model == &model_ ? own_constants_ : other_constants_;
    if (!kept)
      kept.emplace(
          model, [](ValueId) { return Datum(); }, Evaluation::Mode::declared);
    return *kept;
  }

  Datum constant_of(const ir::Model& model, ValueId value) { return constants(model).value(value); }

  // The operators between the values that correspond, `Round, Cast`.
  std::string nodes_text(NodeId node) const {
    std::vector<NodeId> open = {node};
    for (size_t i = 0; i < open.size() && i < kMostTold; ++i) {
      for (const ir::Use& use : other_.model[open[i]].operands) {
        const NodeId before = mine_.contains(use.value) ? NodeId() : ir::producer(other_.model, use.value);
        if (before && std::ranges::find(open, before) == open.end()) open.push_back(before);
      }
    }
    std::vector<std::string> names;
    for (const NodeId one : open) names.insert(names.begin(), quoted(other_.model.text(other_.model[one].op)));
    return join(names, ", ");
  }

  const CauseCase& given_;
  const Counterpart& other_;
  const ir::Model& model_;
  std::map<ValueId, ValueId> mine_;  // by values of the other model
  std::map<ValueId, Datum> operands_;
  std::optional<Evaluation> own_constants_;
  std::optional<Evaluation> other_constants_;
  std::string word_;
  std::vector<std::string> told_;
};

}  // namespace

std::optional<Cause> difference_from(const CauseCase& given, const Counterpart& other) {
  return Comparison(given, other).run();
}

}  // namespace assay::debug
