#include "tensor/bracket_text.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace assay::tensor {
namespace {

// Characters, not bytes, of UTF-8 text.
size_t column_count(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

// The lines of one innermost array.
class Row {
 public:
  Row(const std::string& indent, size_t columns) : indent_(indent), columns_(columns), line_(indent) {}

  void add(const std::string& word) {
    if (!is_empty_) line_ += ' ';
    is_empty_ = false;
    const bool wraps = column_count(line_) + column_count(word) > columns_ && line_.size() > indent_.size();
    if (wraps) {
      done_ += line_.substr(0, line_.find_last_not_of(' ') + 1) + '\n';
      line_ = indent_;
    }
    line_ += word;
  }

  std::string text() const { return (done_ + line_).substr(indent_.size()); }

 private:
  const std::string& indent_;
  size_t columns_;
  std::string done_;  // complete lines
  std::string line_;
  bool is_empty_ = true;
};

class BracketWriter {
 public:
  BracketWriter(const Shape& shape, const BracketLayout& layout, std::vector<std::string> words)
      : shape_(shape), layout_(layout), words_(std::move(words)) {}

  // The text of one sub-array of `axis`; its further lines start with `indent`.
  std::string write(size_t axis, const std::string& indent) {
    const bool is_row = axis + 1 == shape_.size();
    return '[' + (is_row ? write_row(indent) : write_blocks(axis, indent)) + ']';
  }

 private:
  // The numbers of items before "..." and after it.
  std::pair<int64_t, int64_t> item_counts(size_t axis) const {
    if (layout_.is_cut(shape_[axis])) return {layout_.edge_items, layout_.edge_items};
    return {0, shape_[axis]};
  }

  std::string write_blocks(size_t axis, const std::string& indent) {
    const std::string line_breaks(shape_.size() - axis - 1, '\n');
    const auto [before, after] = item_counts(axis);
    std::string text;
    const auto add = [&](const std::string& block) { text += (text.empty() ? "" : line_breaks + indent) + block; };
    for (int64_t i = 0; i < before; ++i) add(write(axis + 1, indent + ' '));
    if (layout_.is_cut(shape_[axis])) add("...");
    for (int64_t i = 0; i < after; ++i) add(write(axis + 1, indent + ' '));
    return text;
  }

  // Each level of nesting keeps a column for its closing bracket.
  std::string write_row(const std::string& indent) {
    const auto [before, after] = item_counts(shape_.size() - 1);
    Row row(indent, layout_.line_width - std::min<uint64_t>(shape_.size(), layout_.line_width));
    for (int64_t i = 0; i < before; ++i) row.add(words_[next_++]);
    if (layout_.is_cut(shape_.back())) row.add("...");
    for (int64_t i = 0; i < after; ++i) row.add(words_[next_++]);
    return row.text();
  }

  const Shape& shape_;
  const BracketLayout& layout_;
  std::vector<std::string> words_;
  size_t next_ = 0;
};

}  // namespace

std::string bracket_text(const Shape& shape, const BracketLayout& layout, std::vector<std::string> words) {
  return BracketWriter(shape, layout, std::move(words)).write(0, " ");
}

}  // namespace assay::tensor
