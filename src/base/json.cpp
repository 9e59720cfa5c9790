#include "base/json.h"

#include <cmath>

#include <fmt/core.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include "base/text.h"

namespace assay {
namespace {

// The text with bytes that are not UTF-8 written as \xNN; control characters stay.
std::string as_utf8(std::string_view text) {
  constexpr size_t kMaxSequence = 4;
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t length = 1;
    while (length <= kMaxSequence && !is_utf8(text.substr(at, length))) ++length;
    const bool valid = length <= kMaxSequence && at + length <= text.size();
    if (valid)
      result += text.substr(at, length);
    else
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
    at += valid ? length : 1;
  }
  return result;
}

// True if the text holds DEL or one of U+0080 to U+009F, which JSON allows and terminals may obey.
bool has_high_control(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0;
    if (text[at] == '\x7F' || (text[at] == '\xC2' && next < 0xA0)) return true;
  }
  return false;
}

// The text as JSON, with such characters written as \u00NN.
std::string quoted(std::string_view text) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  const std::string_view plain(buffer.GetString(), buffer.GetSize());
  std::string result;
  for (size_t at = 0; at < plain.size(); ++at) {
    const bool is_high = has_high_control(plain.substr(at, 2));
    const size_t length = is_high && plain[at] == '\xC2' ? 2 : 1;
    if (is_high && (length == 2 || plain[at] == '\x7F'))
      result += fmt::format("\\u{:04x}", static_cast<unsigned char>(plain[at + length - 1]));
    else
      result += plain[at];
    at += length - 1;
  }
  return result;
}

}  // namespace

struct JsonWriter::Impl {
  rapidjson::StringBuffer buffer;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer{buffer};

  void raw(std::string_view text) {
    const std::string json = quoted(text);
    writer.RawValue(json.data(), json.size(), rapidjson::kStringType);
  }
};

JsonWriter::JsonWriter() : impl_(std::make_unique<Impl>()) {
  impl_->writer.SetIndent(' ', 2);
  impl_->writer.SetFormatOptions(rapidjson::kFormatSingleLineArray);
}

JsonWriter::~JsonWriter() = default;

void JsonWriter::begin_object() { impl_->writer.StartObject(); }
void JsonWriter::end_object() { impl_->writer.EndObject(); }
void JsonWriter::begin_array() { impl_->writer.StartArray(); }
void JsonWriter::end_array() { impl_->writer.EndArray(); }

void JsonWriter::key(std::string_view name) {
  if (!is_utf8(name)) return key(as_utf8(name));
  if (has_high_control(name)) return impl_->raw(name);
  impl_->writer.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
}

void JsonWriter::value(std::string_view text) {
  if (!is_utf8(text)) return value(as_utf8(text));
  if (has_high_control(text)) return impl_->raw(text);
  impl_->writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void JsonWriter::value(int64_t number) { impl_->writer.Int64(number); }
void JsonWriter::value(uint64_t number) { impl_->writer.Uint64(number); }
void JsonWriter::value(bool truth) { impl_->writer.Bool(truth); }
void JsonWriter::document(std::string_view json) {
  while (json.ends_with('\n')) json.remove_suffix(1);
  impl_->writer.RawValue(json.data(), json.size(), rapidjson::kObjectType);
}
void JsonWriter::null() { impl_->writer.Null(); }

void JsonWriter::value(double number) {
  const std::string text = python_float(number);
  if (!std::isfinite(number)) return value(text);
  impl_->writer.RawValue(text.data(), text.size(), rapidjson::kNumberType);
}

std::string JsonWriter::text() const {
  return {std::string(impl_->buffer.GetString(), impl_->buffer.GetSize()) + '\n'};
}

}  // namespace assay
