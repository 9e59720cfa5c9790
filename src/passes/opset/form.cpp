#include "passes/opset/form.h"

#include <algorithm>
#include <bit>

namespace assay::passes {
namespace {

using schema::ArgumentSchema;
using schema::Schema;
using schema::TypeSet;

bool is_one_type(const TypeSet& types) {
  return std::has_single_bit(types.tensors) && types.sequences == 0 && types.optional_tensors == 0 &&
         types.optional_sequences == 0 && types.other.empty();
}

bool is_same_argument(const ArgumentSchema& older, const ArgumentSchema& newer) {
  const bool is_same_option = older.option == newer.option || (older.option == schema::ArgumentOption::single &&
                                                               newer.option == schema::ArgumentOption::optional);
  return is_same_option && newer.min_arity <= older.min_arity && is_subset(older.types, newer.types);
}

bool are_same_arguments(const std::vector<ArgumentSchema>& older, const std::vector<ArgumentSchema>& newer) {
  return std::ranges::equal(older, newer, is_same_argument);
}

std::vector<const ArgumentSchema*> all_arguments(const Schema& schema) {
  std::vector<const ArgumentSchema*> all;
  for (const ArgumentSchema& argument : schema.inputs) all.push_back(&argument);
  for (const ArgumentSchema& argument : schema.outputs) all.push_back(&argument);
  return all;
}

// True if arguments whose types must be equal in the newer version were always equal in the older one.
bool ties_no_more(const Schema& older, const Schema& newer) {
  const std::vector<const ArgumentSchema*> before = all_arguments(older);
  const std::vector<const ArgumentSchema*> after = all_arguments(newer);
  for (size_t i = 0; i < after.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      const bool is_tied = !after[i]->variable.empty() && after[i]->variable == after[k]->variable;
      const bool was_tied = before[i]->variable == before[k]->variable && !before[i]->variable.empty();
      const bool are_one = is_one_type(before[i]->types) && before[i]->types.tensors == before[k]->types.tensors;
      if (is_tied && !was_tied && !are_one) return false;
    }
  }
  return true;
}

bool is_same_attribute(const schema::AttributeSchema& older, const schema::AttributeSchema& newer) {
  return older.name == newer.name && older.type == newer.type && older.value == newer.value &&
         older.required == newer.required;
}

}  // namespace

bool is_subset(const TypeSet& a, const TypeSet& b) {
  const auto is_other = [&](std::string_view type) { return std::ranges::count(b.other, type) > 0; };
  return (a.tensors & ~b.tensors) == 0 && (a.sequences & ~b.sequences) == 0 &&
         (a.optional_tensors & ~b.optional_tensors) == 0 && (a.optional_sequences & ~b.optional_sequences) == 0 &&
         std::ranges::all_of(a.other, is_other);
}

bool is_in(tensor::DType dtype, const TypeSet& types) {
  return static_cast<uint32_t>(dtype) < 32 && (types.tensors & schema::set_of(dtype)) != 0;
}

bool only_widens_types(const Schema& older, const Schema& newer) {
  return older.deprecated == newer.deprecated && are_same_arguments(older.inputs, newer.inputs) &&
         are_same_arguments(older.outputs, newer.outputs) && ties_no_more(older, newer) &&
         std::ranges::equal(older.attributes, newer.attributes, is_same_attribute);
}

bool is_default(const ir::Model& model, const ir::Attribute& written, const schema::AttributeSchema& attribute) {
  if (written.is_reference()) return false;
  if (const auto* integer = std::get_if<int64_t>(&attribute.value)) return written.integer() == *integer;
  if (const auto* number = std::get_if<float>(&attribute.value)) return written.floating() == *number;
  if (const auto* word = std::get_if<std::string_view>(&attribute.value)) return model.text(written.string()) == *word;
  return false;
}

}  // namespace assay::passes
