#include "schema/type_words.h"

#include <algorithm>

#include "base/check.h"
#include "schema/words.h"

namespace assay::schema {
namespace {

DTypeSet find_dtypes(std::string_view word, std::span<const TypeWord> type_words) {
  const auto found = std::ranges::find(type_words, word, &TypeWord::word);
  return found == type_words.end() ? 0 : found->dtypes;
}

void add_type(std::string_view word, std::span<const TypeWord> type_words, TypeSet& types) {
  struct Container {
    std::string_view prefix, suffix;
    DTypeSet TypeSet::*member;
  };
  static constexpr Container kContainers[] = {{"", "", &TypeSet::tensors},
                                              {"seq(", ")", &TypeSet::sequences},
                                              {"optional(seq(", "))", &TypeSet::optional_sequences},
                                              {"optional(", ")", &TypeSet::optional_tensors}};
  for (const Container& container : kContainers) {
    std::string_view inner = word;
    if (!take_prefix(inner, container.prefix) || !take_suffix(inner, container.suffix)) continue;
    const DTypeSet dtypes = find_dtypes(inner, type_words);
    types.*container.member |= dtypes;
    if (dtypes != 0) return;
  }
  ASSAY_CHECK(word.ends_with(')'));
  types.other.push_back(word);
}

}  // namespace

std::vector<TypeWord> element_words() {
  std::vector<TypeWord> words;
  for (int32_t number = 1; tensor::is_known(tensor::DType{number}); ++number) {
    const tensor::DType dtype{number};
    words.push_back({tensor::onnx_name(dtype), set_of(dtype)});
  }
  return words;
}

TypeSet parse_types(std::string_view text, std::span<const TypeWord> type_words) {
  TypeSet types;
  const bool several = take_prefix(text, "{");
  ASSAY_CHECK(!several || take_suffix(text, "}"));
  ASSAY_CHECK(!text.empty());
  while (true) {
    const std::string_view word = take_word(text);
    if (word.empty()) return types;
    add_type(word, type_words, types);
  }
}

}  // namespace assay::schema
