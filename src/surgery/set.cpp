#include "surgery/set.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/attribute_value.h"
#include "ir/constants.h"
#include "ir/edit.h"
#include "ir/queries.h"
#include "ir/verify.h"
#include "ops/inference.h"
#include "ops/resolve.h"
#include "surgery/boundary_types.h"
#include "surgery/scopes.h"
#include "tensor/elements.h"

namespace assay::surgery {
namespace {

using ir::AttributeType;
using ir::NodeId;
using ir::ValueId;
using tensor::Tensor;

constexpr uint64_t kMostShown = 8;  // elements

std::string number_text(tensor::DType dtype, double number) {
  return dtype == tensor::DType::float64 ? fmt::format("{}", number) : fmt::format("{}", static_cast<float>(number));
}

template <typename T, typename Print>
std::string list_text(const std::vector<T>& items, bool is_scalar, Print&& print) {
  std::vector<std::string> words;
  for (const T& item : items) words.push_back(print(item));
  return is_scalar && words.size() == 1 ? words[0] : fmt::format("[{}]", join(words, ","));
}

std::string type_text(const Tensor& tensor) {
  return fmt::format("{}[{}]", tensor::name(tensor.dtype()), fmt::join(tensor.shape(), ","));
}

// The elements of a tensor if they are few, or else its type and shape.
std::string text_of(const Tensor& tensor) {
  const bool is_scalar = tensor.shape().empty();
  const tensor::DTypeKind kind = tensor::kind(tensor.dtype());
  if (tensor.count() > kMostShown || kind == tensor::DTypeKind::complex) return type_text(tensor);
  if (kind == tensor::DTypeKind::string) {
    return list_text(tensor::load_elements<std::string>(tensor), is_scalar, [](const auto& s) { return printable(s); });
  }
  if (kind == tensor::DTypeKind::floating) {
    return list_text(tensor::load_elements<double>(tensor), is_scalar,
                     [&](double number) { return number_text(tensor.dtype(), number); });
  }
  if (kind == tensor::DTypeKind::unsigned_integer) {
    return list_text(tensor::load_elements<uint64_t>(tensor), is_scalar,
                     [](uint64_t n) { return fmt::format("{}", n); });
  }
  return list_text(tensor::load_elements<int64_t>(tensor), is_scalar, [](int64_t n) { return fmt::format("{}", n); });
}

struct AttributeText {
  std::string operator()(int64_t number) const { return fmt::format("{}", number); }
  std::string operator()(float number) const { return fmt::format("{}", number); }
  std::string operator()(const std::string& text) const { return printable(text); }
  template <typename T>
  std::string operator()(const std::vector<T>& items) const {
    return list_text(items, false, AttributeText());
  }
};

std::string text_of(const ir::Model& model, const ir::Attribute& attribute) {
  if (const std::optional<ir::AttributeValue> value = ir::attribute_value(model, attribute)) {
    return std::visit(AttributeText(), *value);
  }
  if (attribute.is_reference()) return fmt::format("@{}", printable(model.text(attribute.reference_target())));
  if (attribute.type() == AttributeType::tensor) return text_of(model[attribute.tensors()[0]].tensor);
  return "something else";
}

std::string label(const std::string& node, const std::string& attribute) { return node + ":" + attribute; }

class Setter {
 public:
  explicit Setter(ir::Model& model) : model_(model), edit_(model), scopes_(model), callees_(model) {
    ops::Inference inference(model);
    inference.run();
    for (const ops::InferenceFinding& finding : inference.findings()) known_.emplace(finding.node, finding.message);
  }

  void set(const AttributeSetting& item) {
    const NodeId node = scopes_.node(item.node);
    const ir::Attribute* const old = model_.find_attribute(model_[node], item.attribute);
    const ir::Symbol name = edit_.intern(item.attribute);
    const AttributeType type = attribute_type(node, item.attribute, old);
    SettingDone done = {label(item.node, item.attribute), old != nullptr ? text_of(model_, *old) : "", "", 0};
    with_frame([&] { return printable(done.name); },
               [&] { edit_.set_attribute(node, new_attribute(old, name, type, item.value)); });
    done.after = text_of(model_, *model_.find_attribute(model_[node], item.attribute));
    edited_.push_back(node);
    done_.push_back(std::move(done));
  }

  void remove(const std::string& node_name, const std::string& attribute) {
    const NodeId node = scopes_.node(node_name);
    const ir::Attribute* const old = model_.find_attribute(model_[node], attribute);
    if (old == nullptr) {
      std::vector<std::string> known;
      for (const ir::Attribute& item : model_[node].attributes) known.emplace_back(model_.text(item.name()));
      const std::optional<std::string> near = did_you_mean(attribute, known);
      fail(ErrorCode::usage, "{} has no attribute `{}`{}", ir::describe(model_, node), printable(attribute),
           near ? fmt::format("; did you mean `{}`?", printable(*near)) : "");
    }
    done_.push_back({label(node_name, attribute), text_of(model_, *old), "", 0});
    edit_.remove_attribute(node, edit_.intern(attribute));
    edited_.push_back(node);
  }

  void set(const ConstantSetting& item) {
    const ValueId value = constant_value(item.name);
    const std::string name(model_.text(model_[value].name));
    const Tensor old = constant_of(value);
    const Tensor given = with_frame([&] { return printable(name); }, [&] { return new_constant(old, item.value); });
    done_.push_back({name, text_of(old), text_of(given), 0});
    for (const ir::Use& use : ir::uses(model_, value)) done_.back().users += model_[use.user].is_outputs ? 0 : 1;
    replace(value, given);
    if (given.shape() != old.shape()) reshape(value, given.shape());
  }

  std::vector<SettingDone> finish() {
    std::vector<ops::InferenceFinding> findings = new_findings();
    const auto contradicts = [](const ops::InferenceFinding& finding) { return finding.code.starts_with("declared"); };
    if (!reshaped_.empty() || std::ranges::any_of(findings, contradicts)) {
      renew_shapes(model_, changed_values());
      findings = new_findings();
    }
    if (!findings.empty()) {
      fail(ErrorCode::usage, "{} would be wrong: {}", ir::describe(model_, findings[0].node), findings[0].message);
    }
    return std::move(done_);
  }

 private:
  // The type that the operator says; of a function or an unknown operator, that of the attribute now.
  AttributeType attribute_type(NodeId node, const std::string& name, const ir::Attribute* old) const {
    const ops::Callee& callee = callees_[node];
    if (callee.function != nullptr) check_parameter(*callee.function, node, name);
    const AttributeType old_type = old != nullptr ? old->type() : AttributeType::undefined;
    if (callee.function != nullptr || callee.schema == nullptr) return old_type;
    const schema::AttributeSchema* const schema = callee.schema->find_attribute(name);
    if (schema != nullptr) return schema->type;
    std::vector<std::string> known;
    for (const schema::AttributeSchema& item : callee.schema->attributes) known.emplace_back(item.name);
    fail_no_attribute(node, name, known);
  }

  void check_parameter(const ir::Function& function, NodeId node, const std::string& name) const {
    std::vector<std::string> known;
    for (const ir::Symbol symbol : function.attribute_names) known.emplace_back(model_.text(symbol));
    for (const ir::Attribute& item : function.attribute_defaults) known.emplace_back(model_.text(item.name()));
    if (std::ranges::find(known, name) == known.end()) fail_no_attribute(node, name, known);
  }

  [[noreturn]] void fail_no_attribute(NodeId node, const std::string& name,
                                      const std::vector<std::string>& known) const {
    const std::optional<std::string> near = did_you_mean(name, known);
    const std::string hint = near            ? fmt::format("; did you mean `{}`?", printable(*near))
                             : known.empty() ? "; it has none"
                                             : fmt::format("; it has {}", printable(join(known, ", ")));
    fail(ErrorCode::usage, "{} has no attribute `{}`{}", ir::describe(model_, node), printable(name), hint);
  }

  // A tensor keeps its type, and its shape where the number of elements is the same.
  ir::Attribute new_attribute(const ir::Attribute* old, ir::Symbol name, AttributeType type, const GivenValue& value) {
    const bool keeps = type == AttributeType::tensor && old != nullptr && !old->is_reference();
    if (!keeps) return attribute_of(model_, name, type, value);
    return ir::tensor_attribute(edit_, model_.text(name), new_constant(model_[old->tensors()[0]].tensor, value));
  }

  static Tensor new_constant(const Tensor& old, const GivenValue& value) {
    const bool is_same_count = value.words.size() == old.count();
    if (value.tensor) {
      if (value.tensor->dtype() == old.dtype()) return *value.tensor;
      fail(ErrorCode::usage, "the file has {}, the constant is {}", tensor::name(value.tensor->dtype()),
           tensor::name(old.dtype()));
    }
    const bool may_be_longer = value.is_list && old.shape().size() == 1;
    if (!is_same_count && !may_be_longer) {
      fail(ErrorCode::usage, "{} number(s) for a constant {}; a .npy file gives many", value.words.size(),
           type_text(old));
    }
    tensor::Shape shape = old.shape();
    if (!is_same_count) shape = {static_cast<int64_t>(value.words.size())};
    return tensor_of(value, old.dtype(), std::move(shape));
  }

  // The constant of this name, as in Scopes; if several bodies have one, none of them is meant.
  ValueId constant_value(const std::string& name) const {
    std::vector<std::string> known;
    const std::vector<std::vector<ValueId>> scopes = scopes_.values();
    for (const std::vector<ValueId>& values : scopes) {
      std::vector<ValueId> found;
      for (const ValueId value : values) {
        if (model_.text(model_[value].name) == name) found.push_back(value);
        if (is_constant(value)) known.emplace_back(model_.text(model_[value].name));
      }
      if (found.size() > 1) fail(ErrorCode::usage, "{} values are called `{}`", found.size(), printable(name));
      if (found.empty()) continue;
      if (is_constant(found[0])) return found[0];
      fail(ErrorCode::usage, "`{}` is no constant: it is {}", printable(name), origin(found[0]));
    }
    fail_unknown_name("constant", name, std::move(known));
  }

  std::string origin(ValueId value) const {
    const NodeId producer = model_[value].producer;
    return producer ? "a result of " + ir::describe(model_, producer) : "an input without a default";
  }

  bool is_constant(ValueId value) const {
    if (model_[value].constant) return true;
    const NodeId producer = model_[value].producer;
    return producer && ir::is_constant_node(model_, producer);
  }

  Tensor constant_of(ValueId value) const {
    if (const ir::TensorId id = model_[value].constant) {
      if (model_[id].sparse) fail(ErrorCode::usage, "`{}` is sparse", printable(model_.text(model_[value].name)));
      return model_[id].tensor;
    }
    ops::Inference inference(model_);
    inference.run();
    const Tensor* const held = inference.constant(value);
    if (held != nullptr) return *held;
    fail(ErrorCode::usage, "{} holds nothing that can be set", ir::describe(model_, model_[value].producer));
  }

  void replace(ValueId value, const Tensor& given) {
    if (const ir::TensorId id = model_[value].constant) return edit_.set_tensor(id, given);
    const ir::Attribute held = ir::tensor_attribute(edit_, "value", given);
    edit_.set_attributes(model_[value].producer, {&held, 1});
    edited_.push_back(model_[value].producer);
  }

  void reshape(ValueId value, const tensor::Shape& shape) {
    std::vector<ir::DimId> dims;
    for (const int64_t dim : shape) dims.push_back(model_.dims().constant(dim));
    if (model_[value].type) edit_.set_type(value, model_.types().tensor(model_[model_[value].type].dtype, dims));
    reshaped_.push_back(value);
  }

  std::vector<ValueId> changed_values() const {
    std::vector<ValueId> changed = reshaped_;
    for (const NodeId node : edited_) {
      for (const ir::Use& use : model_[node].operands) {
        if (use.value) changed.push_back(use.value);
      }
    }
    return changed;
  }

  // Findings about the model that it did not have before.
  std::vector<ops::InferenceFinding> new_findings() const {
    ops::Inference inference(model_);
    inference.run();
    std::vector<ops::InferenceFinding> found = inference.findings();
    std::erase_if(found, [&](const ops::InferenceFinding& finding) {
      return known_.contains({finding.node, finding.message});
    });
    return found;
  }

  ir::Model& model_;
  ir::Edit edit_;
  Scopes scopes_;
  ops::Resolver callees_;
  std::set<std::pair<NodeId, std::string>> known_;  // findings of the model as it was
  std::vector<NodeId> edited_;
  std::vector<ValueId> reshaped_;
  std::vector<SettingDone> done_;
};

}  // namespace

std::vector<SettingDone> set(ir::Model& model, const Settings& settings) {
  Setter setter(model);
  for (const AttributeSetting& item : settings.attributes) setter.set(item);
  for (const auto& [node, attribute] : settings.removed) setter.remove(node, attribute);
  for (const ConstantSetting& item : settings.constants) setter.set(item);
  return setter.finish();
}

}  // namespace assay::surgery
