#include "schema/schema.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <memory>
#include <tuple>

#include "base/check.h"
#include "schema/schema_text.h"

namespace assay::schema {
namespace {

// One operator version.
struct Line {
  LineKey key;
  std::string_view text;
};

bool same_operator(const LineKey& a, const LineKey& b) { return a.domain == b.domain && a.name == b.name; }

// The sorted index over the embedded texts.
class Table {
 public:
  Table() {
    add_text(schemas_text());
    const size_t middle = lines_.size();
    add_text(schemas_microsoft_text());
    const auto order = [](const Line& a, const Line& b) { return a.key < b.key; };
    std::inplace_merge(lines_.begin(), lines_.begin() + static_cast<ptrdiff_t>(middle), lines_.end(), order);
    ASSAY_CHECK(std::ranges::adjacent_find(lines_, std::not_fn(order)) == lines_.end());
    parsed_ = std::make_unique<std::atomic<const Schema*>[]>(lines_.size());
    for (const Line& line : lines_) {
      const bool again = !names_.empty() && same_operator(line.key, {names_.back().domain, names_.back().name});
      if (!again) names_.push_back({line.key.domain, line.key.name});
    }
  }

  const Header& header() const { return header_; }
  std::span<const OperatorName> names() const { return names_; }

  // The lines of an operator, ascending by version.
  std::span<const Line> versions(std::string_view domain, std::string_view name) const {
    const auto key = [](const Line& line) { return std::tuple(line.key.domain, line.key.name); };
    return std::ranges::equal_range(lines_, std::tuple(canonical_domain(domain), name), {}, key);
  }

  const Schema* schema(const Line& line) const {
    std::atomic<const Schema*>& slot = parsed_[static_cast<size_t>(&line - lines_.data())];
    const Schema* known = slot.load(std::memory_order_acquire);
    if (known) return known;
    std::unique_ptr<Schema> parsed = std::make_unique<Schema>(parse_schema(line.text, header_.type_words));
    if (slot.compare_exchange_strong(known, parsed.get(), std::memory_order_acq_rel)) return parsed.release();
    return known;  // another thread was faster
  }

 private:
  void add_text(std::string_view text) {
    lines_.reserve(lines_.size() + static_cast<size_t>(std::ranges::count(text, '\n')));
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      if (line.starts_with('#')) continue;
      if (line.starts_with('@')) {
        parse_header_line(line, header_);
      } else {
        lines_.push_back({parse_key(line), line});
      }
    }
  }

  Header header_;
  std::vector<Line> lines_;
  std::vector<OperatorName> names_;
  std::unique_ptr<std::atomic<const Schema*>[]> parsed_;
};

// Never destroyed, because what it gives out is kept by others until the end.
const Table& table() {
  static const Table& made = *new Table;
  return made;
}

const ArgumentSchema* argument_at(const std::vector<ArgumentSchema>& arguments, uint32_t index) {
  if (index < arguments.size()) return &arguments[index];
  const bool more = !arguments.empty() && arguments.back().option == ArgumentOption::variadic;
  return more ? &arguments.back() : nullptr;
}

}  // namespace

const AttributeSchema* Schema::find_attribute(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &AttributeSchema::name);
  return found == attributes.end() ? nullptr : &*found;
}

const ArgumentSchema* Schema::input(uint32_t index) const { return argument_at(inputs, index); }
const ArgumentSchema* Schema::output(uint32_t index) const { return argument_at(outputs, index); }

std::string_view canonical_domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

const Schema* find_schema(std::string_view domain, std::string_view name, int64_t version) {
  const std::span<const Line> lines = table().versions(domain, name);
  const auto since = [](const Line& line) { return line.key.since; };
  const auto next = std::ranges::upper_bound(lines, version, {}, since);
  return next == lines.begin() ? nullptr : table().schema(*std::prev(next));
}

std::vector<const Schema*> schema_versions(std::string_view domain, std::string_view name) {
  std::vector<const Schema*> schemas;
  for (const Line& line : table().versions(domain, name)) schemas.push_back(table().schema(line));
  return schemas;
}

std::span<const OperatorName> operator_names() { return table().names(); }

bool is_known_operator(std::string_view domain, std::string_view name) {
  return !table().versions(domain, name).empty();
}

std::optional<int64_t> newest_version(std::string_view domain) {
  const std::vector<NewestVersion>& domains = table().header().domains;
  const auto found = std::ranges::find(domains, canonical_domain(domain), &NewestVersion::domain);
  return found == domains.end() ? std::nullopt : std::optional(found->version);
}

std::span<const Release> releases() { return table().header().releases; }
int64_t newest_ir_version() { return table().header().ir_version; }

}  // namespace assay::schema
