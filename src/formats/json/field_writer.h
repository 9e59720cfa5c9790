#pragma once

#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/json.h"
#include "results/fields/fields.h"
#include "results/model_listing.h"
#include "results/plugin_matches.h"

namespace assay::formats {

// The name of the reports of a command: `assay/check-lint/1`.
std::string schema_of(std::string_view command);

// Writes a result by its description (results/fields/fields.h).
class FieldWriter {
 public:
  // `is_full`: with details.
  explicit FieldWriter(JsonWriter& json, bool is_full = true, bool is_list = false)
      : json_(json), is_full_(is_full), is_list_(is_list) {}

  void operator()(std::string_view key, const auto& member) {
    if (!is_list_) json_.key(key);
    write(member);
  }
  void some(std::string_view key, const auto& member) { when(!is_empty(member), key, member); }
  void when(bool truth, std::string_view key, const auto& member) {
    if (truth) (*this)(key, member);
  }
  void or_null(bool truth, std::string_view key, const auto& member) {
    json_.key(key);
    truth ? write(member) : json_.null();
  }
  void marked(bool flag, std::string_view key, const auto& member) { when(flag, key, member); }
  void known(bool flag, std::string_view key, const auto& member) { or_null(flag, key, member); }
  void detail(std::string_view key, const auto& member) { when(is_full_ && !is_empty(member), key, member); }
  void told(std::string_view key, const auto& content) { (*this)(key, content); }
  void told(std::string_view key, const auto& content, const auto&) { (*this)(key, content); }
  void word(std::string_view key, const auto& member, const auto& words) {
    (*this)(key, words[static_cast<size_t>(member)]);
  }
  template <typename T>
  void inlined(std::string_view, const std::optional<T>& member) {
    if (member) results::Fields<T>::of(*this, *member);
  }
  void list(std::string_view key, const auto& items, auto&& describe) {
    json_.key(key);
    write_items(items, [&](const auto& item) { write_object([&](auto& v) { describe(v, item); }); });
  }
  void lists(std::string_view key, const auto& lists, auto&& describe) {
    json_.key(key);
    write_items(lists, [&](const auto& items) {
      write_items(items, [&](const auto& item) { write_object([&](auto& v) { describe(v, item); }); });
    });
  }
  void part(std::string_view key, auto&& describe) {
    json_.key(key);
    write_object(describe);
  }
  bool has(std::string_view, bool truth) { return truth; }
  void command(const std::string&) {}
  void gaps(std::string_view key, const std::vector<double>& numbers) {
    json_.key(key);
    write_items(numbers, [&](double number) { std::isnan(number) ? json_.null() : json_.value(number); });
  }
  void keyed(std::string_view key, const std::vector<std::pair<double, double>>& pairs) {
    part(key, [&](FieldWriter& v) {
      for (const auto& [name, number] : pairs) v(fmt::format("{:g}", name), number);
    });
  }
  void typed(std::string_view key, std::string_view, const results::AttributeListing::Value& value) {
    std::visit(
        [&](const auto& content) {
          using T = std::decay_t<decltype(content)>;
          constexpr bool kIsText =
              !std::is_same_v<T, std::monostate> && !std::is_same_v<T, std::vector<const tensor::Tensor*>>;
          if constexpr (kIsText) (*this)(key, content);
        },
        value);
  }
  void rest(const std::vector<std::pair<std::string, std::string>>& words,
            const std::vector<std::pair<std::string, double>>& numbers) {
    for (const auto& [name, word] : words) (*this)(name, word);
    for (const auto& [name, number] : numbers) (*this)(name, number);
  }
  void single(std::string_view key, const std::string& text) { when(!text.empty(), key, std::vector{text}); }
  void amount(std::string_view key, const std::string& text) {
    int64_t number = 0;
    const char* const end = text.data() + text.size();
    const std::from_chars_result result = std::from_chars(text.data(), end, number);
    result.ec == std::errc() && result.ptr == end ? (*this)(key, number) : (*this)(key, text);
  }
  void numbers(bool flag, std::string_view key, const std::vector<results::ListedDim>& dims) {
    std::vector<int64_t> numbers;
    for (const results::ListedDim& dim : dims) numbers.push_back(dim.value.value_or(-1));
    when(flag, key, numbers);
  }

  void attributes(std::string_view key, const std::vector<results::NamedAttribute>& attributes) {
    part(key, [&](FieldWriter& v) {
      for (const results::NamedAttribute& attribute : attributes) {
        std::visit([&](const auto& value) { v(attribute.name, value); }, attribute.value);
      }
    });
  }

  template <typename T>
  void write(const T& value) {
    if constexpr (results::IsList<T>) {
      json_.begin_array();
      FieldWriter items(json_, is_full_, true);
      results::Fields<T>::of(items, value);
      json_.end_array();
    } else if constexpr (results::Described<T>) {
      write_object([&](auto& v) { results::Fields<T>::of(v, value); });
    } else if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>) {
      json_.value(static_cast<std::conditional_t<std::is_same_v<T, bool>, bool, double>>(value));
    } else if constexpr (std::is_integral_v<T>) {
      json_.value(static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(value));
    } else {
      write_parts(value);
    }
  }

 private:
  template <typename T>
  static bool is_empty(const T& member) {
    if constexpr (std::is_arithmetic_v<T>)
      return member == 0;
    else if constexpr (requires { member.has_value(); })
      return !member.has_value();
    else
      return member.empty();
  }
  void write_object(auto&& describe) {
    json_.begin_object();
    FieldWriter fields(json_, is_full_);
    describe(fields);
    json_.end_object();
  }
  void write_items(const auto& items, auto&& write_item) {
    json_.begin_array();
    for (const auto& item : items) write_item(item);
    json_.end_array();
  }
  void write_named(const auto& pairs) {
    write_object([&](FieldWriter& v) {
      for (const auto& [name, content] : pairs) v(name, content);
    });
  }
  void write_parts(std::string_view text) { json_.value(text); }
  template <typename T>
  void write_parts(const std::optional<T>& member) {
    member ? write(*member) : json_.null();
  }
  template <typename T>
  void write_parts(const std::vector<std::pair<std::string, T>>& pairs) {
    write_named(pairs);
  }
  template <typename T>
  void write_parts(const std::map<std::string, T>& pairs) {
    write_named(pairs);
  }
  template <typename T>
  void write_parts(const std::vector<T>& items) {
    write_items(items, [&](const T& item) { write(item); });
  }
  void write_parts(const std::pair<double, double>& pair) { write_parts(std::vector{pair.first, pair.second}); }
  void write_parts(const results::ListedDim& dim) {
    if (dim.value) return write(*dim.value);
    dim.symbol.empty() ? json_.null() : json_.value(dim.symbol);
  }

  JsonWriter& json_;
  bool is_full_;
  bool is_list_;
};

// A result as JSON; the report of a command begins with its schema.
template <typename T>
std::string json_text(const T& result, bool is_full = true) {
  JsonWriter json;
  json.begin_object();
  FieldWriter fields(json, is_full);
  if constexpr (requires { results::Fields<T>::kCommand; }) {
    json.field("schema", schema_of(results::Fields<T>::kCommand));
  } else if constexpr (requires { result.command; }) {
    json.field("schema", schema_of(result.command));
  }
  results::Fields<T>::of(fields, result);
  json.end_object();
  return json.text();
}

}  // namespace assay::formats
