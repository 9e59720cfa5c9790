#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ops/kernels/text/regex.h"

namespace assay::ops {

// A regular expression as a tree, in one list.
struct RegexNode {
  enum class Kind : uint8_t { empty, set, check, sequence, choice, repeat };

  Kind kind = Kind::empty;
  uint32_t set = 0;
  Regex::Place place = Regex::Place::text_begin;
  std::vector<uint32_t> parts;
  uint32_t least = 0;  // of repeat
  uint32_t most = 0;   // kNoLimit: any number

  static constexpr uint32_t kNoLimit = UINT32_MAX;
};

struct RegexTree {
  std::vector<RegexNode> nodes;
  std::vector<Regex::Set> sets;
  uint32_t root = 0;
};

RegexTree parse_regex(std::string_view pattern);

}  // namespace assay::ops
