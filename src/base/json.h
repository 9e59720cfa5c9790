#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace assay {

// Writes one JSON document as text, indented by two. Numbers that JSON cannot hold become "nan", "inf", "-inf"; bytes
// that are not UTF-8 are written as \xNN.
class JsonWriter {
 public:
  JsonWriter();
  ~JsonWriter();
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  void key(std::string_view name);
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(int64_t number);
  void value(uint64_t number);
  void value(int number) { value(static_cast<int64_t>(number)); }
  void value(double number);
  void value(bool truth);
  void null();
  void document(std::string_view json);  // a value that is JSON already

  template <typename T>
  void field(std::string_view name, T&& content) {
    key(name);
    value(std::forward<T>(content));
  }

  std::string text() const;  // with a final line break

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay
