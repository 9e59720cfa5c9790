#include "report/view/container.h"

#include <cstring>

#include "base/parallel.h"

namespace assay::report {
namespace {

constexpr std::string_view kMagic = "ASV1";
constexpr size_t kAlignment = 8;
constexpr std::string_view kZeros("\0\0\0\0\0\0\0", kAlignment - 1);

size_t width_of(std::string_view type) { return type == "u8" ? 1 : type == "u16" ? 2 : type == "f64" ? 8 : 4; }

std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

uint32_t number_at(Bytes bytes, size_t index) {
  uint32_t number = 0;
  std::memcpy(&number, bytes.data() + index * sizeof(number), sizeof(number));
  return number;
}

}  // namespace

Container::Container(std::string_view kind, Numbers numbers) : numbers_(numbers), size_(kAlignment) {
  head_->begin_object();
  head_->field("kind", kind);
}

void Container::column(std::string_view name, std::span<const uint32_t> numbers) {
  add(name, "u32", std::as_bytes(numbers), numbers_ == Numbers::packable);
}

void Container::add(std::string_view name, std::string_view type, Bytes bytes, bool are_differences) {
  if (columns_.empty()) {
    head_->key("columns");
    head_->begin_object();
  }
  size_ = (size_ + kAlignment - 1) / kAlignment * kAlignment;
  head_->key(name);
  head_->begin_object();
  head_->field("type", type);
  head_->field("offset", static_cast<uint64_t>(size_));
  head_->field("count", static_cast<uint64_t>(bytes.size() / width_of(type)));
  if (are_differences) head_->field("differences", true);
  if (numbers_ == Numbers::packable && width_of(type) > 1) head_->field("planes", true);
  head_->end_object();
  columns_.push_back({size_, bytes, width_of(type), are_differences});
  size_ += bytes.size();
}

void Container::column(std::string_view name, const results::TextColumn& texts) {
  add(std::string(name) + ".text", "u8", std::as_bytes(std::span(texts.text)));
  column(std::string(name) + ".ends", texts.ends);
}

void Container::finish() {
  if (columns_.empty()) {
    head_->key("columns");
    head_->begin_object();
  }
  head_->end_object();
  head_->end_object();
  tail_ = head_->text();
  const auto size = static_cast<uint32_t>(tail_.size());
  start_ = kMagic;
  start_.append(reinterpret_cast<const char*>(&size), sizeof(size));
}

// The bytes at one place of all numbers.
std::string Container::plane(const Column& column, size_t byte) {
  std::string plane(column.bytes.size() / column.width, '\0');
  if (!column.are_differences) {
    for (size_t i = 0; i < plane.size(); ++i) plane[i] = static_cast<char>(column.bytes[i * column.width + byte]);
    return plane;
  }
  uint32_t last = 0;
  for (size_t i = 0; i < plane.size(); ++i) {
    const uint32_t number = number_at(column.bytes, i);
    const uint32_t difference = number - last;
    plane[i] = static_cast<char>((((difference << 1U) ^ (0 - (difference >> 31U))) >> (8 * byte)) & 0xffU);
    last = number;
  }
  return plane;
}

void Container::write_planes(const Column& column, FunctionRef<void(std::string_view piece)> take) {
  std::vector<std::string> planes(column.width);
  parallel_for(planes.size(), 1, [&](uint64_t byte, uint64_t) { planes[byte] = plane(column, byte); });
  for (const std::string& piece : planes) take(piece);
}

void Container::write(FunctionRef<void(std::string_view piece)> take) const {
  take(start_);
  size_t at = start_.size();
  for (const Column& column : columns_) {
    if (column.offset > at) take(kZeros.substr(0, column.offset - at));
    if (numbers_ == Numbers::packable && column.width > 1)
      write_planes(column, take);
    else if (!column.bytes.empty())
      take(as_text(column.bytes));
    at = column.offset + column.bytes.size();
  }
  take(tail_);
}

std::string Container::text() const {
  std::string text;
  text.reserve(size());
  write([&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace assay::report
