#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct YamlEntry;

// One value of a YAML (or JSON) document. Aliases stand as copies of what they name.
struct YamlNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  bool is_quoted = false;  // a scalar that is text whatever it looks like
  size_t line = 0;         // from 1
  std::string text;        // of scalars
  std::vector<YamlNode> items;
  std::vector<YamlEntry> entries;  // of maps, in file order

  // The entry of this key, or null.
  const YamlNode* find(std::string_view key) const;
  // Error (parse) with the line and what was expected.
  [[noreturn]] void fail_here(std::string_view expected) const;
};

struct YamlEntry {
  std::string key;
  YamlNode value;
};

// All documents of a YAML text. Error (parse) for damage, keys that are no text or that stand twice, and values nested
// deeper than 64; (limit) where aliases make the text grow beyond a million values.
std::vector<YamlNode> parse_yaml(std::string_view text);

// A scalar that reads back as this text, in quotes where it would be something else without.
std::string yaml_text(std::string_view text);

}  // namespace assay
