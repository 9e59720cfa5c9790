#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "schema/schema.h"
#include "schema/type_words.h"

namespace assay::schema {

// The texts that the build embeds; the head of schemas.txt describes their format. All that is parsed refers to them.
std::string_view schemas_text();
std::string_view schemas_microsoft_text();

struct NewestVersion {
  std::string_view domain;
  int64_t version;
};

// The lines with @, of one text or of several.
struct Header {
  int64_t ir_version = 0;
  std::vector<NewestVersion> domains;
  std::vector<Release> releases;
  std::vector<TypeWord> type_words = element_words();
};

// The key by which lines are sorted.
struct LineKey {
  std::string_view domain;
  std::string_view name;
  int64_t since = 0;

  auto operator<=>(const LineKey&) const = default;
};

// Takes the next line off the text, without its line break.
std::string_view take_line(std::string_view& text);
void parse_header_line(std::string_view line, Header& header);
LineKey parse_key(std::string_view line);
Schema parse_schema(std::string_view line, std::span<const TypeWord> type_words);

}  // namespace assay::schema
