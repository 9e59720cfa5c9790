#pragma once

#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "formats/json/json_reader.h"
#include "results/fields/fields.h"
#include "results/model_listing.h"
#include "results/plugin_matches.h"

namespace assay::formats {

// A word that lives as long as the program.
std::string_view kept_word(std::string word);

// Reads a result by its description (results/fields/fields.h) from the text of a JSON object, or of a list where names
// are left out. What is not there stays as it is, so that a report of another version is read as far as it goes.
// Error (parse) for what is no JSON, or of another kind than the member.
class FieldReader {
 public:
  explicit FieldReader(std::string_view text);

  void operator()(std::string_view key, auto& member) {
    if (const std::optional<std::string_view> text = find(key)) read(*text, member);
  }
  void some(std::string_view key, auto& member) { (*this)(key, member); }
  void when(bool, std::string_view key, auto& member) { (*this)(key, member); }
  void or_null(bool, std::string_view key, auto& member) { (*this)(key, member); }
  void marked(bool& flag, std::string_view key, auto& member) {
    flag = find(key).has_value();
    (*this)(key, member);
  }
  void known(bool& flag, std::string_view key, auto& member) {
    flag = find(key).value_or("null") != "null";
    (*this)(key, member);
  }
  void detail(std::string_view key, auto& member) { (*this)(key, member); }
  void told(std::string_view, const auto&) {}
  void told(std::string_view key, const auto&, auto& member) { (*this)(key, member); }
  template <typename T>
  void word(std::string_view key, T& member, const auto& words) {
    std::string word;
    (*this)(key, word);
    for (size_t i = 0; i < std::size(words); ++i) {
      if (words[i] == word) member = static_cast<T>(i);
    }
  }
  template <typename T>
  void inlined(std::string_view key, std::optional<T>& member) {
    if (find(key)) results::Fields<T>::of(*this, member.emplace());
  }
  void list(std::string_view key, auto& items, auto&& describe) {
    if (const std::optional<std::string_view> text = find(key)) read_list(*text, items, describe);
  }
  void lists(std::string_view key, auto& lists, auto&& describe) {
    if (const std::optional<std::string_view> text = find(key)) {
      for (const std::string_view items : items_of(*text)) read_list(items, lists.emplace_back(), describe);
    }
  }
  void part(std::string_view key, auto&& describe) {
    if (const std::optional<std::string_view> text = find(key)) {
      FieldReader fields(*text);
      describe(fields);
    }
  }
  bool has(std::string_view key, bool) { return find(key).has_value(); }
  void command(std::string& member);
  void gaps(std::string_view key, std::vector<double>& numbers) { (*this)(key, numbers); }
  void keyed(std::string_view key, std::vector<std::pair<double, double>>& pairs);
  void single(std::string_view key, std::string& text);
  void typed(std::string_view key, std::string_view type, results::AttributeListing::Value& value);
  void rest(std::vector<std::pair<std::string, std::string>>& words,
            std::vector<std::pair<std::string, double>>& numbers);
  void amount(std::string_view key, std::string& text);
  void numbers(bool& flag, std::string_view key, std::vector<results::ListedDim>& dims);
  void attributes(std::string_view key, std::vector<results::NamedAttribute>& attributes);

 private:
  // The text of the value of a key. Those are found soonest that are asked for in the order of the file.
  std::optional<std::string_view> find(std::string_view key);
  static std::vector<std::string_view> items_of(std::string_view text);

  template <typename T>
  static void read(std::string_view text, T& value) {
    if constexpr (results::Described<T>) {
      FieldReader fields(text);
      results::Fields<T>::of(fields, value);
    } else {
      read_plain(text, value);
    }
  }
  static void read_list(std::string_view text, auto& items, auto&& describe) {
    for (const std::string_view item : items_of(text)) {
      FieldReader fields(item);
      describe(fields, items.emplace_back());
    }
  }
  static void read_plain(std::string_view text, bool& value);
  static void read_plain(std::string_view text, double& value);
  static void read_plain(std::string_view text, float& value);
  static void read_plain(std::string_view text, std::string& value);
  static void read_plain(std::string_view text, std::string_view& value);
  static void read_plain(std::string_view text, results::ListedDim& dim);
  static void read_plain(std::string_view text, std::pair<double, double>& pair);
  template <typename T>
    requires std::is_integral_v<T>
  static void read_plain(std::string_view text, T& value) {
    if (text == "null") return;
    const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size())
      JsonReader(text).fail_here("expected an integer");
  }
  template <typename T>
  static void read_plain(std::string_view text, std::optional<T>& member) {
    if (text != "null") read(text, member.emplace());
  }
  template <typename T>
  static void read_plain(std::string_view text, std::vector<T>& items) {
    if (text == "null") return;
    for (const std::string_view item : items_of(text)) read(item, items.emplace_back());
  }
  template <typename T>
  static void read_plain(std::string_view text, std::vector<std::pair<std::string, T>>& pairs) {
    for (const auto& [name, content] : FieldReader(text).values_) {
      pairs.emplace_back(name, T());
      read(content, pairs.back().second);
    }
  }
  template <typename T>
  static void read_plain(std::string_view text, std::map<std::string, T>& pairs) {
    for (const auto& [name, content] : FieldReader(text).values_) read(content, pairs[name]);
  }

  std::vector<std::pair<std::string, std::string_view>> values_;  // names are empty in a list
  std::vector<bool> is_found_;                                    // by value
  bool is_list_ = false;
  size_t next_ = 0;
};

// The report in a text. Error (parse).
template <results::Described T>
T read_report(std::string_view text) {
  T report;
  FieldReader fields(text);
  results::Fields<T>::of(fields, report);
  return report;
}

}  // namespace assay::formats
