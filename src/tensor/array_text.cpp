#include "tensor/array_text.h"

#include <algorithm>
#include <complex>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "tensor/bracket_text.h"
#include "tensor/casts.h"
#include "tensor/float_column.h"

namespace assay::tensor {
namespace {

constexpr size_t kMaxRank = 64;  // numpy's own; the layout needs a call and a column for each

using Words = std::vector<std::string>;

// Consecutive elements that are shown.
struct Run {
  uint64_t first;
  uint64_t count;
};

// The shown elements in order: all of them, or the edges of every axis.
std::vector<Run> shown_runs(const Tensor& tensor, const BracketLayout& layout) {
  if (!layout.summarised) return {{0, tensor.count()}};
  std::vector<Run> runs = {{0, 1}};
  for (const int64_t dim : tensor.shape()) {
    std::vector<Run> inner;
    for (const Run& run : runs) {
      for (uint64_t i = 0; i < run.count; ++i) {
        const uint64_t first = (run.first + i) * static_cast<uint64_t>(dim);
        const bool cut = layout.is_cut(dim);
        const auto edge = static_cast<uint64_t>(layout.edge_items);
        inner.push_back({first, cut ? edge : static_cast<uint64_t>(dim)});
        if (cut) inner.push_back({first + static_cast<uint64_t>(dim) - edge, edge});
      }
    }
    runs = std::move(inner);
  }
  return runs;
}

void load_run(DType dtype, Bytes bytes, uint64_t first, std::span<std::complex<double>> out) {
  load_complex(dtype, bytes, first, out);
}
template <typename C>
void load_run(DType dtype, Bytes bytes, uint64_t first, std::span<C> out) {
  load(dtype, bytes, first, out);
}

// The elements of the runs. Of a filled tensor only the pattern is read.
template <typename C>
std::vector<C> shown_values(const Tensor& tensor, std::span<const Run> runs) {
  uint64_t count = 0;
  for (const Run& run : runs) count += run.count;
  std::vector<C> values(count);
  const Bytes pattern = tensor.storage() ? tensor.storage()->fill_pattern() : Bytes{};
  const uint64_t period_bits = pattern.size() * 8;
  const bool is_fill = period_bits != 0 && period_bits % bit_width(tensor.dtype()) == 0;
  const Bytes bytes = is_fill ? pattern : tensor.bytes();
  const uint64_t period = is_fill ? period_bits / bit_width(tensor.dtype()) : 0;
  std::span<C> rest(values);
  for (const Run& run : runs) {
    const uint64_t step = is_fill ? 1 : run.count;
    for (uint64_t i = 0; i < run.count; i += step) {
      const uint64_t first = is_fill ? (run.first + i) % period : run.first;
      load_run(tensor.dtype(), bytes, first, rest.first(step));
      rest = rest.subspan(step);
    }
  }
  return values;
}

// Types that numpy does not have are printed as float32.
FloatWidth width_of(DType dtype) {
  if (dtype == DType::float16) return FloatWidth::half;
  const bool is_full = dtype == DType::float64 || dtype == DType::complex128;
  return is_full ? FloatWidth::full : FloatWidth::single;
}

Words float_words(const Tensor& tensor, std::span<const Run> runs) {
  const std::vector<double> values = shown_values<double>(tensor, runs);
  const FloatWidth width = width_of(tensor.dtype());
  if (tensor.shape().empty()) return {float_scalar_text(values[0], width)};
  const FloatColumn column(values, width, SignStyle::only_minus);
  Words words;
  for (const double value : values) words.push_back(column.text(value));
  return words;
}

// The unit follows the digits, before the blanks that align them.
std::string with_unit(const std::string& text) {
  const size_t end = text.find_last_not_of(' ') + 1;
  return text.substr(0, end) + 'j' + text.substr(end);
}

Words complex_words(const Tensor& tensor, std::span<const Run> runs) {
  const std::vector<std::complex<double>> values = shown_values<std::complex<double>>(tensor, runs);
  const FloatWidth width = width_of(tensor.dtype());
  if (tensor.shape().empty()) return {complex_scalar_text(values[0].real(), values[0].imag(), width)};
  std::vector<double> real, imaginary;
  for (const std::complex<double>& value : values) {
    real.push_back(value.real());
    imaginary.push_back(value.imag());
  }
  const FloatColumn left(real, width, SignStyle::only_minus);
  const FloatColumn right(imaginary, width, SignStyle::always);
  Words words;
  for (size_t i = 0; i < values.size(); ++i) words.push_back(left.text(real[i]) + with_unit(right.text(imaginary[i])));
  return words;
}

template <typename C>
Words integer_words(const Tensor& tensor, std::span<const Run> runs) {
  const std::vector<C> values = shown_values<C>(tensor, runs);
  Words words;
  for (const C value : values) words.push_back(fmt::format("{}", value));
  const auto longest = std::ranges::max_element(words, {}, &std::string::size);
  const size_t width = longest->size();
  for (std::string& word : words) word.insert(0, width - word.size(), ' ');
  return words;
}

Words boolean_words(const Tensor& tensor, std::span<const Run> runs) {
  const std::vector<uint64_t> values = shown_values<uint64_t>(tensor, runs);
  const std::string yes = tensor.shape().empty() ? "True" : " True";
  Words words;
  for (const uint64_t value : values) words.push_back(value != 0 ? yes : "False");
  return words;
}

Words string_words(const Tensor& tensor, std::span<const Run> runs) {
  const std::span<const std::string> strings = tensor.strings();
  if (tensor.shape().empty()) return {printable(strings[0])};
  Words words;
  for (const Run& run : runs) {
    for (const std::string& text : strings.subspan(run.first, run.count)) words.push_back(python_string(text));
  }
  return words;
}

Words shown_words(const Tensor& tensor, const BracketLayout& layout) {
  const std::vector<Run> runs = shown_runs(tensor, layout);
  switch (kind(tensor.dtype())) {
    case DTypeKind::floating:
      return float_words(tensor, runs);
    case DTypeKind::complex:
      return complex_words(tensor, runs);
    case DTypeKind::signed_integer:
      return integer_words<int64_t>(tensor, runs);
    case DTypeKind::unsigned_integer:
      return integer_words<uint64_t>(tensor, runs);
    case DTypeKind::boolean:
      return boolean_words(tensor, runs);
    case DTypeKind::string:
      return string_words(tensor, runs);
    case DTypeKind::none:
      break;
  }
  fail(ErrorCode::unsupported, "elements of `{}` cannot be printed", name(tensor.dtype()));
}

}  // namespace

std::string array_text(const Tensor& tensor, const ArrayTextOptions& options) {
  if (tensor.count() == 0) return "[]";
  const size_t rank = tensor.shape().size();
  if (rank > kMaxRank) fail(ErrorCode::limit, "an array of rank {} cannot be printed, at most {}", rank, kMaxRank);
  const BracketLayout layout = {tensor.count() > options.threshold, std::max<int64_t>(options.edge_items, 1),
                                options.line_width};
  Words words = shown_words(tensor, layout);
  if (rank == 0) return words[0];
  return bracket_text(tensor.shape(), layout, std::move(words));
}

}  // namespace assay::tensor
