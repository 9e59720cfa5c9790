#include "ops/call_rules.h"

#include <bit>
#include <map>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::ops {
namespace {

using schema::ArgumentOption;
using schema::ArgumentSchema;
using schema::DTypeSet;
using schema::Schema;

constexpr const char* kAttributeTypes[] = {"undefined",      "float", "int",     "string",  "tensor", "graph",
                                           "floats",         "ints",  "strings", "tensors", "graphs", "sparse_tensor",
                                           "sparse_tensors", "type",  "types"};

std::string count_text(uint32_t least, uint32_t most) {
  if (least == most) return fmt::format("{}", least);
  if (most == Schema::kUnlimited) return fmt::format("at least {}", least);
  return fmt::format("{} to {}", least, most);
}

bool holds(DTypeSet set, tensor::DType dtype) {
  const auto number = static_cast<uint32_t>(dtype);
  return dtype != tensor::DType::undefined && number < 32 && (set >> number & 1) != 0;
}

std::string set_text(DTypeSet set) {
  std::string text;
  for (int32_t i = 0; i < 32; ++i) {
    if (set >> i & 1) text += (text.empty() ? "" : ", ") + tensor::name(static_cast<tensor::DType>(i));
  }
  return text;
}

// True if the type may stand there; one that is not known may. An optional that has content counts as its content.
bool allows(const schema::TypeSet& set, const Type& type) {
  if (!type.known) return true;
  if (!set.other.empty()) return true;  // maps are checked by the operators that take them
  const auto allows_dtype = [](DTypeSet dtypes, const Type& tensor) {
    return !tensor.known || tensor.dtype == tensor::DType::undefined || holds(dtypes, tensor.dtype);
  };
  switch (type.kind) {
    case ir::TypeKind::tensor:
    case ir::TypeKind::sparse_tensor:
      return (set.tensors | set.optional_tensors) && allows_dtype(set.tensors | set.optional_tensors, type);
    case ir::TypeKind::sequence: {
      const DTypeSet dtypes = set.sequences | set.optional_sequences;
      return dtypes && (!type.element || allows_dtype(dtypes, *type.element));
    }
    case ir::TypeKind::optional:
      return set.optional_tensors || set.optional_sequences || set.tensors || set.sequences;
    default:
      return false;
  }
}

std::string expected_text(const schema::TypeSet& set) {
  std::string text;
  const auto add = [&](const char* kind, DTypeSet dtypes) {
    if (dtypes) text += fmt::format("{}{}{}", text.empty() ? "" : "; ", kind, set_text(dtypes));
  };
  add("", set.tensors);
  add("sequences of ", set.sequences);
  add("optional ", set.optional_tensors);
  return text;
}

void check_counts(const Node& node, std::vector<std::string>& broken) {
  const Schema& schema = *node.schema();
  const auto inputs = static_cast<uint32_t>(node.ir_node().operands.size());
  const auto outputs = static_cast<uint32_t>(node.ir_node().results.size());
  if (inputs < schema.min_inputs || inputs > schema.max_inputs) {
    broken.push_back(fmt::format("it has {} inputs, {} takes {}", inputs, schema.name,
                                 count_text(schema.min_inputs, schema.max_inputs)));
  }
  if (outputs < schema.min_outputs || outputs > schema.max_outputs) {
    broken.push_back(fmt::format("it has {} outputs, {} gives {}", outputs, schema.name,
                                 count_text(schema.min_outputs, schema.max_outputs)));
  }
  for (uint32_t i = 0; i < inputs; ++i) {
    const ArgumentSchema* argument = schema.input(i);
    const bool must_be = argument && (argument->option == ArgumentOption::variadic ||
                                      (argument->option == ArgumentOption::single && i < schema.min_inputs));
    if (must_be && !node.ir_node().operands[i].value.valid()) {
      broken.push_back(fmt::format("input {} (`{}`) is required and left out", i, argument->name));
    }
  }
}

void check_attributes(const Node& node, std::vector<std::string>& broken) {
  const Schema& schema = *node.schema();
  for (const ir::Attribute& attribute : node.ir_node().attributes) {
    const std::string_view name = node.model().text(attribute.name());
    const schema::AttributeSchema* expected = schema.find_attribute(name);
    if (!expected) {
      broken.push_back(fmt::format("{} has no attribute `{}`", schema.name, printable(name)));
    } else if (expected->type != attribute.type()) {
      broken.push_back(fmt::format("attribute `{}` must be of type {}, it is of type {}", printable(name),
                                   kAttributeTypes[static_cast<size_t>(expected->type)],
                                   kAttributeTypes[static_cast<size_t>(attribute.type())]));
    }
  }
  for (const schema::AttributeSchema& attribute : schema.attributes) {
    if (attribute.required && !node.has_attribute(attribute.name)) {
      broken.push_back(fmt::format("attribute `{}` is required and missing", attribute.name));
    }
  }
}

// The dtype inside a type; a type variable stands for it, and so ties arguments to each other.
tensor::DType innermost(const Type& type) {
  const Type* inner = &type;
  while (inner->element) inner = inner->element.get();
  return inner->known ? inner->dtype : tensor::DType::undefined;
}

struct Binding {
  Type type;
  uint32_t input = 0;
};

using Bindings = std::map<std::string_view, Binding>;

Bindings bind(const Schema& schema, std::span<const Knowledge> inputs) {
  Bindings bindings;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const ArgumentSchema* argument = schema.input(i);
    if (!argument || argument->variable.empty() || !inputs[i].type.known) continue;
    if (argument->option == ArgumentOption::variadic && !argument->homogeneous) continue;
    if (innermost(inputs[i].type) == tensor::DType::undefined) continue;
    bindings.try_emplace(argument->variable, Binding{inputs[i].type, i});
  }
  return bindings;
}

Type only_type(const schema::TypeSet& set) {
  if (std::popcount(set.tensors) == 1 && !set.sequences && !set.optional_tensors && set.other.empty()) {
    return Type::tensor(static_cast<tensor::DType>(std::countr_zero(set.tensors)));
  }
  return {};
}

}  // namespace

std::vector<std::string> broken_call_rules(const Node& node) {
  std::vector<std::string> broken;
  if (!node.schema()) return broken;
  check_counts(node, broken);
  check_attributes(node, broken);
  return broken;
}

std::vector<std::string> broken_type_rules(const Node& node, std::span<const Knowledge> inputs) {
  std::vector<std::string> broken;
  if (!node.schema()) return broken;
  const Bindings bindings = bind(*node.schema(), inputs);
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const ArgumentSchema* argument = node.schema()->input(i);
    const Type& type = inputs[i].type;
    if (!argument || !type.known) continue;
    if (!allows(argument->types, type)) {
      broken.push_back(fmt::format("input {} (`{}`) is {}, {} {} takes {}", i, argument->name, bare(type).text(),
                                   node.schema()->name, node.schema()->since, expected_text(argument->types)));
      continue;
    }
    const auto bound = bindings.find(argument->variable);
    if (bound == bindings.end() || (argument->option == ArgumentOption::variadic && !argument->homogeneous)) continue;
    const tensor::DType own = innermost(type);
    const tensor::DType other = innermost(bound->second.type);
    if (own != tensor::DType::undefined && own != other) {
      broken.push_back(fmt::format("inputs {} and {} must be of one type, they are {} and {}", bound->second.input, i,
                                   tensor::name(other), tensor::name(own)));
    }
  }
  return broken;
}

std::vector<std::string> broken_result_rules(const Node& node, std::span<const Knowledge> outputs) {
  std::vector<std::string> broken;
  // A Constant is of the type of its tensor: the list of version 1, floats only, was never kept to.
  if (!node.schema() || node.op() == "Constant") return broken;
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    const ArgumentSchema* argument = node.schema()->output(i);
    const Type& type = outputs[i].type;
    if (!argument || !type.is_tensor() || !argument->types.tensors || type.dtype == tensor::DType::undefined) continue;
    if (holds(argument->types.tensors, type.dtype)) continue;
    broken.push_back(fmt::format("output {} (`{}`) would be {}, {} {} gives {}", i, argument->name, bare(type).text(),
                                 node.schema()->name, node.schema()->since, expected_text(argument->types)));
  }
  return broken;
}

void bind_output_types(const Node& node, std::span<const Knowledge> inputs, std::span<Knowledge> outputs) {
  if (!node.schema()) return;
  const Bindings bindings = bind(*node.schema(), inputs);
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    const ArgumentSchema* argument = node.schema()->output(i);
    if (!argument || (argument->option == ArgumentOption::variadic && !argument->homogeneous)) continue;
    const auto bound = bindings.find(argument->variable);
    outputs[i].type = bound == bindings.end() ? only_type(argument->types) : bare(bound->second.type);
  }
}

}  // namespace assay::ops
