#include "surgery/interface_types.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "ir/edit.h"
#include "ir/naming.h"
#include "passes/handing_on.h"

namespace assay::surgery {
namespace {

class Interface {
 public:
  explicit Interface(ir::Model& model) : model_(model), edit_(model), main_(model.main_graph()) {}

  void set_input(ir::ValueId input, tensor::DType dtype) {
    const ir::TypeId declared = model_[input].type;
    if (model_[declared].dtype == dtype) return;
    const ir::NodeId first = ir::nodes(model_, main_).begin() == ir::nodes(model_, main_).end()
                                 ? ir::NodeId{}
                                 : *ir::nodes(model_, main_).begin();
    const ir::NodeId cast = add_cast(input, model_[declared].dtype, first);
    const ir::ValueId result = model_[cast].results[0];
    edit_.set_type(result, declared);
    edit_.replace_uses(input, result);
    edit_.set_operand(cast, 0, input);
    edit_.set_type(input, retyped(declared, dtype));
  }

  // An output keeps its name, whatever stands behind it.
  void set_output(size_t number, tensor::DType dtype) {
    const ir::ValueId output = model_.outputs(main_)[number].value;
    const ir::TypeId declared = model_[output].type;
    if (model_[declared].dtype == dtype) return;
    if (model_[output].kind == ir::ValueKind::input) {
      fail(ErrorCode::usage, "the output `{}` is an input: it has one type", printable(name_of(output)));
    }
    const ir::NodeId cast = add_cast(output, dtype, {});
    const ir::ValueId result = model_[cast].results[0];
    const ir::Symbol name = model_[output].name;
    edit_.rename(output, model_[result].name);
    edit_.rename(result, name);
    edit_.set_type(result, retyped(declared, dtype));
    std::vector<ir::ValueId> outputs;
    for (const ir::Use& use : model_.outputs(main_)) outputs.push_back(use.value);
    outputs[number] = result;
    edit_.set_outputs(main_, outputs);
  }

  std::string_view name_of(ir::ValueId value) const { return model_.text(model_[value].name); }

 private:
  ir::NodeId add_cast(ir::ValueId value, tensor::DType to, ir::NodeId before) {
    const ir::Symbol name = ir::fresh_name(edit_, fmt::format("{}_{}", name_of(value), tensor::name(to)));
    const ir::NodeId cast = passes::add_cast(edit_, {main_, value, name, before}, to);
    edit_.rename(cast, fmt::format("Cast_{}", model_.text(name)));
    return cast;
  }

  ir::TypeId retyped(ir::TypeId declared, tensor::DType dtype) {
    ir::Type type = model_[declared];
    type.dtype = dtype;
    return model_.types().intern(std::move(type));
  }

  ir::Model& model_;
  ir::Edit edit_;
  const ir::GraphId main_;
};

// Nullopt: it keeps its type.
std::optional<tensor::DType> wish(std::span<const InterfaceType> types, std::string_view name) {
  const InterfaceType* found = nullptr;
  for (const InterfaceType& type : types) {
    if (type.name == name || (type.name.empty() && found == nullptr)) found = &type;
  }
  return found == nullptr ? std::nullopt : std::optional(found->dtype);
}

bool is_number_tensor(const ir::Model& model, ir::ValueId value) {
  const ir::TypeId type = model[value].type;
  return type.valid() && model[type].kind == ir::TypeKind::tensor && model[type].dtype != tensor::DType::undefined &&
         model[type].dtype != tensor::DType::string;
}

void check(const ir::Model& model, std::span<const InterfaceType> types, const std::vector<ir::ValueId>& values) {
  std::vector<std::string> names;
  for (const ir::ValueId value : values) names.emplace_back(model.text(model[value].name));
  for (const InterfaceType& type : types) {
    const auto place = std::ranges::find(names, type.name);
    if (type.name.empty()) continue;
    if (place == names.end()) {
      const std::optional<std::string> near = did_you_mean(type.name, names);
      fail(ErrorCode::usage, "the model has no input or output `{}`{}", printable(type.name),
           near ? fmt::format("; did you mean `{}`?", printable(*near)) : "");
    }
    if (!is_number_tensor(model, values[static_cast<size_t>(place - names.begin())])) {
      fail(ErrorCode::usage, "`{}` is no tensor of numbers whose type is known", printable(type.name));
    }
  }
}

}  // namespace

void set_interface_types(ir::Model& model, std::span<const InterfaceType> types) {
  std::vector<ir::ValueId> inputs;
  for (const ir::ValueId input : model[model.main_graph()].inputs) inputs.push_back(input);
  std::vector<ir::ValueId> values = inputs;
  for (const ir::Use& use : model.outputs(model.main_graph())) values.push_back(use.value);
  check(model, types, values);
  Interface interface(model);
  const size_t output_count = values.size() - inputs.size();
  for (size_t i = 0; i < output_count; ++i) {
    const ir::ValueId output = model.outputs(model.main_graph())[i].value;
    const std::optional<tensor::DType> dtype = wish(types, interface.name_of(output));
    if (dtype && is_number_tensor(model, output)) interface.set_output(i, *dtype);
  }
  for (const ir::ValueId input : inputs) {
    const std::optional<tensor::DType> dtype = wish(types, interface.name_of(input));
    if (dtype && is_number_tensor(model, input)) interface.set_input(input, *dtype);
  }
}

}  // namespace assay::surgery
