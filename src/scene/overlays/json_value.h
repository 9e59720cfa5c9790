#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace assay::scene {

// A JSON document in memory: what is missing reads as nothing, so that a report of another version is read as far as it
// goes.
struct JsonValue {
  enum class Kind { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  double number = std::numeric_limits<double>::quiet_NaN();  // of numbers, and of "nan", "inf", "-inf"
  std::string text;
  std::vector<std::string> keys;  // of the items of an object
  std::vector<JsonValue> items;

  bool is_true() const { return kind == Kind::boolean && number != 0; }
  // An empty one where there is none.
  const JsonValue& operator[](std::string_view key) const;
  std::vector<std::string> texts() const;
};

// Error (parse) for what is no JSON, or nested too deeply.
JsonValue parse_json(std::string_view text);

}  // namespace assay::scene
