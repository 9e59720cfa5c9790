#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/spec.h"

namespace assay::cli {

// One typed word: a value, an option (row or spelling) with its attached value, or the `--` that ends options.
struct Word {
  enum class Kind { value, option, end_of_options };
  Kind kind = Kind::value;
  std::string_view text;
  const OptionRow* row = nullptr;
  const Spelling* spelling = nullptr;
  std::optional<std::string_view> attached;
};

// The words, and lines about abbreviations that were accepted.
struct Words {
  std::vector<Word> words;
  std::vector<std::string> notes;
};

// Tells options from values. An unknown or ambiguous option is an Error (usage). Refers to `typed` and `command`.
Words classify_words(const Command& command, std::span<const std::string> typed);

}  // namespace assay::cli
