#include "formats/json/field_reader.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "base/error.h"

namespace assay::formats {

std::string_view kept_word(std::string word) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> words;
  const std::scoped_lock lock(mutex);
  return *words.insert(std::move(word)).first;
}

FieldReader::FieldReader(std::string_view text) {
  JsonReader reader(text);
  if (reader.peek() == JsonReader::Kind::null) return;
  if (reader.peek() == JsonReader::Kind::array) {
    is_list_ = true;
    reader.begin_array();
    while (reader.next_item()) values_.emplace_back("", reader.any());
  } else {
    reader.begin_object();
    for (std::string key; reader.next_key(key);) {
      const std::string_view value = reader.any();
      values_.emplace_back(std::move(key), value);
    }
  }
  reader.finish();
  is_found_.assign(values_.size(), false);
}

std::optional<std::string_view> FieldReader::find(std::string_view key) {
  if (is_list_) return next_ < values_.size() ? std::optional(values_[next_++].second) : std::nullopt;
  for (size_t i = 0; i < values_.size(); ++i) {
    const size_t at = (next_ + i) % values_.size();
    if (values_[at].first != key) continue;
    next_ = at;
    is_found_[at] = true;
    return values_[at].second;
  }
  return std::nullopt;
}

std::vector<std::string_view> FieldReader::items_of(std::string_view text) {
  JsonReader reader(text);
  std::vector<std::string_view> items;
  reader.begin_array();
  while (reader.next_item()) items.push_back(reader.any());
  return items;
}

void FieldReader::command(std::string& member) {
  std::string schema;
  (*this)("schema", schema);
  const size_t begin = schema.find('/') + 1;
  member = schema.substr(begin, schema.rfind('/') - begin);
  std::ranges::replace(member, '-', ' ');
}

void FieldReader::keyed(std::string_view key, std::vector<std::pair<double, double>>& pairs) {
  std::vector<std::pair<std::string, double>> named;
  (*this)(key, named);
  for (const auto& [name, number] : named) pairs.emplace_back(std::strtod(name.c_str(), nullptr), number);
}

void FieldReader::single(std::string_view key, std::string& text) {
  std::vector<std::string> texts;
  (*this)(key, texts);
  if (!texts.empty()) text = texts.front();
}

void FieldReader::typed(std::string_view key, std::string_view type, results::AttributeListing::Value& value) {
  const std::optional<std::string_view> text = find(key);
  if (!text) return;
  if (type == "INT") value = int64_t{};
  if (type == "FLOAT") value = double{};
  if (type == "STRING") value = std::string();
  if (type == "INTS") value = std::vector<int64_t>();
  if (type == "FLOATS") value = std::vector<double>();
  if (type == "STRINGS") value = std::vector<std::string>();
  const auto read_value = [&](auto& member) {
    using T = std::decay_t<decltype(member)>;
    constexpr bool kIsRead =
        !std::is_same_v<T, std::monostate> && !std::is_same_v<T, std::vector<const tensor::Tensor*>>;
    if constexpr (kIsRead) read(*text, member);
  };
  std::visit(read_value, value);
}

// Numbers that JSON cannot hold are texts.
void FieldReader::rest(std::vector<std::pair<std::string, std::string>>& words,
                       std::vector<std::pair<std::string, double>>& numbers) {
  for (size_t i = 0; i < values_.size(); ++i) {
    const auto& [name, text] = values_[i];
    if (is_found_[i] || text.find_first_of("[{tfn") == 0) continue;
    const bool is_word = text.starts_with('"') && text != "\"nan\"" && text != "\"inf\"" && text != "\"-inf\"";
    is_word ? read(text, words.emplace_back(name, "").second) : read(text, numbers.emplace_back(name, 0).second);
  }
}

void FieldReader::amount(std::string_view key, std::string& text) {
  const std::string_view found = find(key).value_or("\"\"");
  if (found.starts_with('"')) return read(found, text);
  text = found;
}

void FieldReader::numbers(bool& flag, std::string_view key, std::vector<results::ListedDim>& dims) {
  marked(flag, key, dims);
  for (results::ListedDim& dim : dims) {
    if (dim.value == -1) dim.value.reset();
  }
}

void FieldReader::attributes(std::string_view key, std::vector<results::NamedAttribute>& attributes) {
  const std::optional<std::string_view> text = find(key);
  if (!text) return;
  for (const auto& named : FieldReader(*text).values_) {
    const std::string_view content = named.second;
    results::AttributeValue value;
    const std::string_view first = content.starts_with('[') && content != "[]" ? items_of(content).front() : content;
    const bool is_float = first.find_first_of(".eE") != std::string_view::npos;
    if (content.starts_with('[')) {
      if (first.starts_with('"'))
        value = std::vector<std::string>();
      else if (is_float)
        value = std::vector<float>();
      else
        value = std::vector<int64_t>();
    } else if (first.starts_with('"'))
      value = std::string();
    else if (is_float)
      value = 0.0F;
    std::visit([&](auto& member) { read(content, member); }, value);
    attributes.push_back({named.first, std::move(value)});
  }
}

void FieldReader::read_plain(std::string_view text, bool& value) { value = JsonReader(text).boolean(); }

void FieldReader::read_plain(std::string_view text, double& value) {
  value = std::numeric_limits<double>::quiet_NaN();
  if (text == "null" || text == "\"nan\"") return;
  const double infinity = std::numeric_limits<double>::infinity();
  if (text == "\"inf\"" || text == "\"-inf\"")
    value = text == "\"inf\"" ? infinity : -infinity;
  else
    value = JsonReader(text).number();
}

void FieldReader::read_plain(std::string_view text, float& value) {
  double number = 0;
  read_plain(text, number);
  value = static_cast<float>(number);
}

void FieldReader::read_plain(std::string_view text, std::string& value) {
  value = text == "null" ? "" : JsonReader(text).string().text();
}

void FieldReader::read_plain(std::string_view text, std::string_view& value) {
  value = kept_word(JsonReader(text).string().text());
}

void FieldReader::read_plain(std::string_view text, results::ListedDim& dim) {
  if (text == "null") return;
  text.starts_with('"') ? read(text, dim.symbol) : read(text, dim.value);
}

void FieldReader::read_plain(std::string_view text, std::pair<double, double>& pair) {
  FieldReader items(text);
  items("", pair.first);
  items("", pair.second);
}

}  // namespace assay::formats
