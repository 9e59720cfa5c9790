#include "ops/kernels/quantization/cast_text.h"

#include <charconv>
#include <cstdlib>
#include <limits>

#include "base/text.h"
#include "base/trim.h"
#include "ops/kernels/quantization/cast.h"
#include "ops/kernels/quantization/numeric_limits.h"
#include "tensor/float_column.h"

namespace assay::ops {
namespace {

// Without blanks around the number, and without a plus before it.
std::string_view bare(std::string_view text) {
  text = trimmed(text);
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return has_plus ? text.substr(1) : text;
}

template <typename T>
std::optional<T> parsed(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc()) return value;
  if constexpr (std::is_floating_point_v<T>) {
    // Too large or too small: strtod tells which.
    if (error == std::errc::result_out_of_range) return static_cast<T>(std::strtod(std::string(text).c_str(), nullptr));
  }
  return std::nullopt;
}

}  // namespace

std::string number_text(DType dtype, double value) {
  if (dtype == DType::boolean) return value != 0 ? "True" : "False";
  const bool is_half = dtype == DType::float16;
  const auto width = dtype == DType::float64 ? tensor::FloatWidth::full
                     : is_half               ? tensor::FloatWidth::half
                                             : tensor::FloatWidth::single;
  return tensor::float_scalar_text(rounded_to(dtype, value), width);
}

double number_of_text(std::string_view text, bool is_float32) {
  const std::string_view word = bare(text);
  const std::string lower = to_lower(word);
  if (lower == "true") return 1;
  if (lower == "false") return 0;
  if (is_float32) {
    if (const std::optional<float> value = parsed<float>(word)) return static_cast<double>(*value);
  } else if (const std::optional<double> value = parsed<double>(word)) {
    return *value;
  }
  fail(ErrorCode::shape, "`{}` is no number", printable(text));
}

uint64_t integer_of_text(DType to, std::string_view text) {
  const std::string_view word = bare(text);
  if (const std::optional<int64_t> value = parsed<int64_t>(word)) return static_cast<uint64_t>(*value);
  if (const std::optional<uint64_t> value = parsed<uint64_t>(word)) return *value;
  return truncated_to(to, number_of_text(text, false));
}

}  // namespace assay::ops
