#include "report/view/container.h"

#include <cstring>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

constexpr std::string_view kMagic = "ASV1";
constexpr size_t kAlignment = 8;

size_t width_of(std::string_view type) { return type == "u8" ? 1 : type == "u16" ? 2 : type == "f64" ? 8 : 4; }

}  // namespace

Container::Container(std::string_view kind, Numbers numbers, size_t expected) : numbers_(numbers) {
  head_.begin_object();
  head_.field("kind", kind);
  columns_.reserve(expected);
  columns_ = kMagic;
  columns_.resize(kAlignment, '\0');
}

void Container::column(std::string_view name, std::span<const uint32_t> numbers) {
  if (numbers_ == Numbers::plain) return add(name, "u32", std::as_bytes(numbers));
  std::vector<uint32_t> differences(numbers.size());
  uint32_t last = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const uint32_t difference = numbers[i] - std::exchange(last, numbers[i]);
    differences[i] = (difference << 1U) ^ (0 - (difference >> 31U));
  }
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
  const bool has_planes = numbers_ == Numbers::packable && width_of(type) > 1;
  if (are_differences) head_.field("differences", true);
  if (has_planes) head_.field("planes", true);
  head_.end_object();
  if (has_planes) return append_planes(bytes, width_of(type));
  columns_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void Container::append_planes(Bytes bytes, size_t width) {
  size_t to = columns_.size();
  columns_.resize(to + bytes.size());
  for (size_t plane = 0; plane < width; ++plane) {
    for (size_t i = plane; i < bytes.size(); i += width) columns_[to++] = static_cast<char>(bytes[i]);
  }
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
  const std::string head = head_.text();
  const auto size = static_cast<uint32_t>(head.size());
  std::memcpy(columns_.data() + kMagic.size(), &size, sizeof(size));
  return std::move(columns_ += head);
}

}  // namespace assay::report
