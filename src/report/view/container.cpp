#include "report/view/container.h"

#include <array>
#include <numeric>
#include <vector>

namespace assay::report {
namespace {

constexpr std::string_view kMagic = "ASV1";
constexpr size_t kAlignment = 8;

size_t width_of(std::string_view type) { return type == "u8" ? 1 : type == "u16" ? 2 : type == "f64" ? 8 : 4; }

}  // namespace

Container::Container(std::string_view kind, Numbers numbers) : numbers_(numbers) {
  head_.begin_object();
  head_.field("kind", kind);
}

void Container::column(std::string_view name, std::span<const uint32_t> numbers) {
  if (numbers_ == Numbers::plain) return add(name, "u32", std::as_bytes(numbers));
  std::vector<uint32_t> differences(numbers.begin(), numbers.end());
  std::adjacent_difference(numbers.begin(), numbers.end(), differences.begin());
  add(name, "u32", std::as_bytes(std::span(differences)), true);
}

void Container::add(std::string_view name, std::string_view type, Bytes bytes, bool are_differences) {
  if (!has_columns_) {
    head_.key("columns");
    head_.begin_object();
    has_columns_ = true;
  }
  columns_.resize((columns_.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
  head_.key(name);
  head_.begin_object();
  head_.field("type", type);
  head_.field("offset", static_cast<uint64_t>(columns_.size()));
  head_.field("count", static_cast<uint64_t>(bytes.size() / width_of(type)));
  if (are_differences) head_.field("differences", true);
  head_.end_object();
  columns_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void Container::column(std::string_view name, const results::TextColumn& texts) {
  add(std::string(name) + ".text", "u8", std::as_bytes(std::span(texts.text)));
  column(std::string(name) + ".ends", texts.ends);
}

std::string Container::finish() {
  if (!has_columns_) {
    head_.key("columns");
    head_.begin_object();
  }
  head_.end_object();
  head_.end_object();
  std::string head = head_.text();
  head.resize((head.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const auto size = static_cast<uint32_t>(head.size());
  const std::array<char, 4> length = {static_cast<char>(size), static_cast<char>(size >> 8U),
                                      static_cast<char>(size >> 16U), static_cast<char>(size >> 24U)};
  std::string whole(kMagic);
  whole.append(length.data(), length.size());
  return whole + head + columns_;
}

}  // namespace assay::report
