#pragma once

#include <string>
#include <string_view>

#include "base/files.h"

namespace assay::formats {

// The text in quotes with everything beyond ASCII escaped, as Python's json writes it. Error (usage) if it is not
// UTF-8.
std::string json_quoted(std::string_view text);
// A number as Python's json writes it: NaN and Infinity bare.
std::string json_number(double number);

// Writes JSON as Python's json.dump(indent=4) lays it out, without a final line break.
class PythonJson {
 public:
  explicit PythonJson(OutputFile& out) : out_(out) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);
  void string(std::string_view text) { value(json_quoted(text)); }
  void number(double number) { value(json_number(number)); }
  void integer(int64_t number);
  void boolean(bool truth) { value(truth ? "true" : "false"); }
  void null() { value("null"); }
  // The base64 text of two pieces in a row.
  void base64(Bytes first, Bytes second);

 private:
  void open(char bracket);
  void close(char bracket);
  void value(std::string_view text);
  void start_value();
  void break_line();

  OutputFile& out_;
  size_t depth_ = 0;
  bool is_empty_ = true;  // nothing was written since the last bracket
  bool is_behind_key_ = false;
};

}  // namespace assay::formats
