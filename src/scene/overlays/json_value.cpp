#include "scene/overlays/json_value.h"

#include <algorithm>

#include "base/error.h"
#include "formats/json/json_reader.h"

namespace assay::scene {
namespace {

constexpr int kMostDepth = 64;

void read_text(std::string text, JsonValue& value) {
  value.kind = JsonValue::Kind::string;
  if (text == "inf") value.number = std::numeric_limits<double>::infinity();
  if (text == "-inf") value.number = -std::numeric_limits<double>::infinity();
  value.text = std::move(text);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as kMostDepth
JsonValue read_value(formats::JsonReader& reader, int depth) {
  if (depth > kMostDepth) reader.fail_here("it is nested too deeply");
  JsonValue value;
  switch (reader.peek()) {
    case formats::JsonReader::Kind::object:
      value.kind = JsonValue::Kind::object;
      reader.begin_object();
      for (std::string key; reader.next_key(key);) {
        value.keys.push_back(key);
        value.items.push_back(read_value(reader, depth + 1));
      }
      break;
    case formats::JsonReader::Kind::array:
      value.kind = JsonValue::Kind::array;
      reader.begin_array();
      while (reader.next_item()) value.items.push_back(read_value(reader, depth + 1));
      break;
    case formats::JsonReader::Kind::string:
      read_text(reader.string().text(), value);
      break;
    case formats::JsonReader::Kind::number:
      value.kind = JsonValue::Kind::number;
      value.number = reader.number();
      break;
    case formats::JsonReader::Kind::boolean:
      value.kind = JsonValue::Kind::boolean;
      value.number = reader.boolean() ? 1 : 0;
      break;
    case formats::JsonReader::Kind::null:
      reader.null();
      break;
  }
  return value;
}

}  // namespace

const JsonValue& JsonValue::operator[](std::string_view key) const {
  static const JsonValue kNone;
  const auto found = std::ranges::find(keys, key);
  return found == keys.end() ? kNone : items[static_cast<size_t>(found - keys.begin())];
}

std::vector<std::string> JsonValue::texts() const {
  std::vector<std::string> result;
  for (const JsonValue& item : items) result.push_back(item.text);
  if (kind == Kind::string) result.push_back(text);
  return result;
}

JsonValue parse_json(std::string_view text) {
  formats::JsonReader reader(text);
  JsonValue value = read_value(reader, 0);
  reader.finish();
  return value;
}

}  // namespace assay::scene
