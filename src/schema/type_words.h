#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "schema/schema.h"

namespace assay::schema {

// A word for element types: one of them or a named set.
struct TypeWord {
  std::string_view word;
  DTypeSet dtypes;
};

std::vector<TypeWord> element_words();  // one for each element type
// A type or {types}; each is a word, a container of it as `seq(word)`, or a type that holds no tensors of dense data.
TypeSet parse_types(std::string_view text, std::span<const TypeWord> type_words);

}  // namespace assay::schema
