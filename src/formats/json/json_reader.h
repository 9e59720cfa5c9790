#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/shape.h"

namespace assay::formats {

// A string as written in JSON, between its quotes.
struct JsonString {
  std::string_view raw;
  // Without escapes, as UTF-8. Error (parse) for what JSON does not allow.
  std::string text() const;
};

// Reads JSON piece by piece from text that stays where it is; nothing is copied, so that long strings cost only the
// search for their end. NaN, Infinity and -Infinity are numbers, as Python writes them. Error (parse) with
// the place of a fault.
//
//   reader.begin_object();
//   for (std::string key; reader.next_key(key);) reader.skip();
class JsonReader {
 public:
  enum class Kind { object, array, string, number, boolean, null };

  explicit JsonReader(std::string_view text) : text_(text) {}

  // The kind of the next value.
  Kind peek();
  void begin_object();
  // The next key, or false after the last one, when the object ends. Each key must be followed by its value.
  bool next_key(std::string& key);
  void begin_array();
  bool next_item();
  JsonString string();
  double number();
  int64_t integer();
  // An array of integers that are not negative.
  tensor::Shape dims();
  bool boolean();
  void null();
  // Any value.
  void skip();
  // Likewise; gives its text.
  std::string_view any();
  // Only whitespace may follow.
  void finish();
  // Error (parse) about this place.
  [[noreturn]] void fail_here(std::string_view what) const;

 private:
  void skip_blanks();
  void open(char bracket);
  bool next(char closing);
  std::string_view number_text();
  bool accept_word(std::string_view word);

  std::string_view text_;
  size_t at_ = 0;
  std::vector<bool> is_first_;  // for each open bracket: nothing was read in it
};

// The name of a kind, for messages.
std::string_view kind_name(JsonReader::Kind kind);

}  // namespace assay::formats
