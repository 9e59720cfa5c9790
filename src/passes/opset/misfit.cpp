#include "passes/opset/misfit.h"

#include <fmt/format.h>

#include "base/text.h"
#include "passes/opset/form.h"

namespace assay::passes {
namespace {

using schema::ArgumentSchema;
using schema::Schema;

Refusal attribute_misfit(const Draft& draft, const Schema& schema) {
  for (const ir::Attribute& attribute : draft.attributes()) {
    const std::string_view name = draft.model().text(attribute.name());
    const schema::AttributeSchema* known = schema.find_attribute(name);
    if (!known) return fmt::format("version {} has no attribute `{}`", schema.since, printable(name));
    if (known->type != attribute.type()) {
      return fmt::format("attribute `{}` has another type in version {}", name, schema.since);
    }
  }
  for (const schema::AttributeSchema& attribute : schema.attributes) {
    if (attribute.required && !draft.find(attribute.name))
      return fmt::format("attribute `{}` is missing", attribute.name);
  }
  return {};
}

Refusal input_misfit(const Draft& draft, const Schema& schema) {
  const size_t count = draft.operands().size();
  if (count < schema.min_inputs || count > schema.max_inputs) {
    return fmt::format("it has {} inputs, version {} takes {} to {}", count, schema.since, schema.min_inputs,
                       schema.max_inputs);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const ArgumentSchema* argument = schema.input(i);
    if (argument && !draft.has(i) && argument->option == schema::ArgumentOption::single) {
      return fmt::format("its input `{}` is left out, which version {} does not allow", argument->name, schema.since);
    }
  }
  return {};
}

// An input or output of a node: what it may be before and after, and what it is.
struct Place {
  const ArgumentSchema* source;  // nullptr: it is new
  const ArgumentSchema* argument;
  uint32_t index;
  bool is_input;
};

std::vector<Place> places_of(const Draft& draft, const Schema& source, const Schema& schema) {
  std::vector<Place> places;
  for (uint32_t i = 0; i < draft.operands().size(); ++i) {
    if (draft.has(i)) places.push_back({source.input(i), schema.input(i), i, true});
  }
  for (uint32_t i = 0; i < draft.result_count(); ++i) {
    if (draft.has_result(i)) places.push_back({source.output(i), schema.output(i), i, false});
  }
  return places;
}

ops::Type type_at(const Draft& draft, const Place& place) {
  return place.is_input ? draft.type(place.index) : draft.result_type(place.index);
}

Refusal place_misfit(const Draft& draft, const Place& place, int64_t version) {
  if (place.source && is_subset(place.source->types, place.argument->types)) return {};
  const ops::Type type = type_at(draft, place);
  const std::string_view word = place.is_input ? "input" : "output";
  if (!type.known) return fmt::format("the type of its {} `{}` is not known", word, place.argument->name);
  if (is_in(type.dtype, place.argument->types)) return {};
  return fmt::format("its {} `{}` is {}, which version {} does not allow", word, place.argument->name, type.text(),
                     version);
}

bool is_tied(const ArgumentSchema* a, const ArgumentSchema* b) {
  return a && b && !a->variable.empty() && a->variable == b->variable && a->homogeneous && b->homogeneous;
}

bool is_tie_broken(const Draft& draft, const Place& a, const Place& b) {
  if (!is_tied(a.argument, b.argument) || is_tied(a.source, b.source)) return false;
  const ops::Type first = type_at(draft, a);
  const ops::Type second = type_at(draft, b);
  return first.known && second.known && first.dtype != second.dtype;
}

}  // namespace

Refusal form_misfit(const Draft& draft, const Schema& schema) {
  if (Refusal refusal = input_misfit(draft, schema); !refusal.empty()) return refusal;
  if (draft.result_count() < schema.min_outputs || draft.result_count() > schema.max_outputs) {
    return fmt::format("it has {} outputs, version {} gives {} to {}", draft.result_count(), schema.since,
                       schema.min_outputs, schema.max_outputs);
  }
  return attribute_misfit(draft, schema);
}

Refusal type_misfit(const Draft& draft, const Schema& source, const Schema& schema) {
  if (only_widens_types(source, schema)) return {};
  const std::vector<Place> places = places_of(draft, source, schema);
  for (const Place& place : places) {
    if (Refusal refusal = place_misfit(draft, place, schema.since); !refusal.empty()) return refusal;
  }
  for (size_t i = 0; i < places.size(); ++i) {
    for (size_t k = 0; k < i && k < 16; ++k) {
      if (!is_tie_broken(draft, places[i], places[k])) continue;
      return fmt::format("`{}` and `{}` must have one type in version {}", places[k].argument->name,
                         places[i].argument->name, schema.since);
    }
  }
  return {};
}

}  // namespace assay::passes
