#include "onnx/export/source_fields.h"

#include <fmt/core.h>

#include "onnx/fields.h"

namespace assay::onnx {

Message source_message(const ir::Model& model, const ir::SourceRange& range) {
  const Bytes all = model.source()->bytes();
  return {all.subspan(range.offset + range.header, range.size - range.header), all.data()};
}

bool find_field(const Message& message, uint32_t number, Field& found) {
  bool any = false;
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number != number) continue;
    found = field;
    any = true;
  }
  return any;
}

SourceFields::SourceFields(const Message& message, uint32_t number, Key key) {
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number != number) continue;
    fields_.push_back(field);
    keys_.push_back(key(child(message, field)));
  }
  for (size_t i = 0; i < keys_.size(); ++i) first_.emplace(keys_[i], i);
}

const Field* SourceFields::find(size_t place, std::string_view key) const {
  if (place < keys_.size() && keys_[place] == key) return &fields_[place];
  const auto first = first_.find(key);
  return first == first_.end() ? nullptr : &fields_[first->second];
}

std::string name_key(const Message& message) {
  Field name;
  return find_field(message, field::value_info::name, name) ? std::string(as_string(name, "name")) : std::string();
}

std::string opset_key(std::string_view domain, int64_t version) { return fmt::format("{} {}", version, domain); }

std::string opset_key(const Message& message) {
  Field domain, version;
  const bool has_domain = find_field(message, field::opset::domain, domain);
  const bool has_version = find_field(message, field::opset::version, version);
  return opset_key(has_domain ? as_string(domain, "domain") : "", has_version ? as_int(version, "version") : 0);
}

std::string entry_key(std::string_view key, std::string_view value) {
  return fmt::format("{} {}{}", key.size(), key, value);
}

std::string entry_key(const Message& message) {
  Field key, value;
  const bool has_key = find_field(message, field::entry::key, key);
  const bool has_value = find_field(message, field::entry::value, value);
  return entry_key(has_key ? as_string(key, "key") : "", has_value ? as_string(value, "value") : "");
}

void kept_text(Rope& rope, const Message* source, uint32_t number, std::string_view text) {
  Field field;
  if (source && find_field(*source, number, field) && as_string(field, "text") == text) {
    rope.borrow(field.whole);
  } else if (!text.empty()) {
    rope.text_field(number, text);
  }
}

}  // namespace assay::onnx
