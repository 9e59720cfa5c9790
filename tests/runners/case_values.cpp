#include "runners/case_values.h"

#include <algorithm>
#include <charconv>
#include <complex>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "runners/case_random.h"
#include "tensor/casts.h"

namespace assay::cases {
namespace {

using tensor::Datum;
using tensor::DType;
using tensor::DTypeKind;
using tensor::Tensor;

constexpr uint64_t kMostElements = 1 << 22;

constexpr std::pair<std::string_view, std::string_view> kShortNames[] = {
    {"bf", "bfloat"}, {"f", "float"}, {"i", "int"}, {"u", "uint"}, {"c", "complex"}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// `f8e4m3fn` -> `float8e4m3fn`; others as they are.
std::string long_name(const std::string& word) {
  if (word == "str") return "string";
  for (const auto& [brief, full] : kShortNames) {
    const bool begins = word.substr(0, brief.size()) == brief;
    if (begins && word.size() > brief.size() && is_digit(word[brief.size()])) {
      return std::string(full) + word.substr(brief.size());
    }
  }
  return word;
}

// Makes the elements of one tensor.
class TensorMaker {
 public:
  TensorMaker(const Literal& literal, const Scope& scope)
      : literal_(literal), scope_(scope), dtype_(dtype_of(literal.dtype, literal.line, scope)) {
    const std::optional<uint64_t> count = tensor::element_count(literal.dims);
    if (!count || *count > kMostElements) scope_.fail_at(literal_.line, "the dims are too large");
    count_ = *count;
  }

  Tensor make() {
    if (dtype_ == DType::string) return Tensor(dtype_, literal_.dims, tensor::make_strings(strings()));
    std::vector<std::byte> bytes(tensor::packed_bytes(dtype_, count_).value_or(0));
    if (literal_.fill == Fill::bits) {
      put_bits(bytes);
    } else if (tensor::kind(dtype_) == DTypeKind::complex) {
      put_complex(bytes);
    } else if (literal_.fill == Fill::elements && dtype_ == DType::uint64) {
      put_integers<uint64_t>(bytes);
    } else if (literal_.fill == Fill::elements && !tensor::is_floating(dtype_)) {
      put_integers<int64_t>(bytes);
    } else {
      tensor::store(dtype_, std::span<const double>(reals(count_)), 0, bytes);
    }
    return Tensor(dtype_, literal_.dims, tensor::make_owned(std::move(bytes)));
  }

 private:
  void check_count(uint64_t needed) const {
    if (literal_.words.size() == needed) return;
    scope_.fail_at(literal_.line, fmt::format("the dims need {} elements, found {}", needed, literal_.words.size()));
  }

  std::vector<std::string> strings() const {
    if (literal_.fill == Fill::value) return std::vector<std::string>(count_, literal_.words[0]);
    if (literal_.fill != Fill::elements) scope_.fail_at(literal_.line, "strings are written as {\"…\"} or fill(\"…\")");
    check_count(count_);
    return literal_.words;
  }

  template <typename C>
  void put_integers(std::span<std::byte> bytes) const {
    check_count(count_);
    std::vector<C> values;
    for (const std::string& word : literal_.words) {
      C value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      const bool is_number = error == std::errc() && end == word.data() + word.size();
      if (!is_number) scope_.fail_at(literal_.line, fmt::format("`{}` is no {}", word, tensor::name(dtype_)));
      values.push_back(value);
    }
    tensor::store(dtype_, std::span<const C>(values), 0, bytes);
    std::vector<C> stored(count_);
    tensor::load(dtype_, bytes, 0, std::span<C>(stored));
    if (stored != values)
      scope_.fail_at(literal_.line, fmt::format("an element does not fit {}", tensor::name(dtype_)));
  }

  // The numbers of any rule but bits.
  std::vector<double> reals(uint64_t count) const {
    std::vector<double> values(count, 1);
    if (literal_.fill == Fill::elements) {
      check_count(count);
      for (uint64_t i = 0; i < count; ++i) values[i] = number(i);
    } else if (literal_.fill == Fill::value) {
      std::fill(values.begin(), values.end(), number(0));
    } else if (literal_.fill == Fill::iota) {
      for (uint64_t i = 0; i < count; ++i) values[i] = number(0) + static_cast<double>(i) * number(1);
    } else if (literal_.fill == Fill::random) {
      RandomNumbers random(static_cast<uint64_t>(number(0)), number(1), number(2), is_real());
      for (double& value : values) value = random.next();
    }
    if (dtype_ != DType::float64 && is_real()) {
      for (double& value : values) value = static_cast<double>(static_cast<float>(value));
    }
    return values;
  }

  bool is_real() const { return tensor::is_floating(dtype_) || tensor::kind(dtype_) == DTypeKind::complex; }

  double number(size_t place) const {
    const std::string& word = literal_.words[place];
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (word.empty() || *end != '\0') scope_.fail_at(literal_.line, fmt::format("`{}` is no number", word));
    return value;
  }

  void put_complex(std::span<std::byte> bytes) const {
    const std::vector<double> parts = reals(2 * count_);
    std::vector<std::complex<double>> values;
    for (size_t i = 0; i < parts.size(); i += 2) values.emplace_back(parts[i], parts[i + 1]);
    tensor::store_complex(dtype_, std::span<const std::complex<double>>(values), 0, bytes);
  }

  // Element by element, first one in the lowest bits.
  void put_bits(std::span<std::byte> bytes) const {
    check_count(count_);
    const uint32_t width = tensor::bit_width(dtype_);
    for (size_t i = 0; i < literal_.words.size(); ++i) {
      const uint64_t code = std::strtoull(literal_.words[i].c_str(), nullptr, 16);
      if (width > 64 || (width < 64 && code >> width != 0)) {
        scope_.fail_at(literal_.line, fmt::format("{} does not fit {} bits", literal_.words[i], width));
      }
      for (uint32_t bit = 0; bit < width; ++bit) {
        const size_t at = i * width + bit;
        bytes[at / 8] |= static_cast<std::byte>((code >> bit & 1) << at % 8);
      }
    }
  }

  const Literal& literal_;
  const Scope& scope_;
  DType dtype_;
  uint64_t count_ = 0;
};

std::string tensor_type(const std::string& dtype, const tensor::Shape& dims, int line, const Scope& scope) {
  const std::string_view word = tensor::onnx_name(dtype_of(dtype, line, scope));
  return dims.empty() ? std::string(word) : fmt::format("{}[{}]", word, fmt::join(dims, ","));
}

}  // namespace

void Scope::fail_at(int line, const std::string& message) const {
  fail(ErrorCode::parse, "{}:{}: {}", path.string(), line, message);
}

DType dtype_of(const std::string& word, int line, const Scope& scope) {
  const auto variable = scope.words.find(word);
  const std::string& meant = variable == scope.words.end() ? word : variable->second;
  const std::optional<DType> found = tensor::find_dtype(long_name(meant));
  if (!found || !tensor::is_known(*found)) scope.fail_at(line, fmt::format("`{}` is no element type", meant));
  return *found;
}

Datum make_value(const Literal& literal, const Scope& scope) {
  switch (literal.kind) {
    case Literal::Kind::tensor:
      return TensorMaker(literal, scope).make();
    case Literal::Kind::sequence: {
      std::vector<Datum> items;
      for (const Literal& item : literal.items) items.push_back(make_value(item, scope));
      return Datum::sequence(std::move(items));
    }
    case Literal::Kind::optional:
      return make_value(literal.items.at(0), scope);
    case Literal::Kind::map:
      return Datum::map(TensorMaker(literal.items.at(0), scope).make(), TensorMaker(literal.items.at(1), scope).make());
    case Literal::Kind::none:
      break;
  }
  return {};
}

// The items of a sequence may have different dims, so that its type names none.
std::string type_text(const Literal& literal, const Scope& scope) {
  const auto element = [&] { return std::string(tensor::onnx_name(dtype_of(literal.dtype, literal.line, scope))); };
  switch (literal.kind) {
    case Literal::Kind::tensor:
      return tensor_type(literal.dtype, literal.dims, literal.line, scope);
    case Literal::Kind::sequence: {
      if (literal.items.empty()) return fmt::format("seq({}[])", element());
      const Literal& first = literal.items[0];
      if (first.kind != Literal::Kind::tensor) return fmt::format("seq({})", type_text(first, scope));
      return fmt::format("seq({}[])", tensor::onnx_name(dtype_of(first.dtype, first.line, scope)));
    }
    case Literal::Kind::optional:
      return fmt::format("optional({})", type_text(literal.items.at(0), scope));
    case Literal::Kind::none:
      return literal.is_sequence_element ? fmt::format("optional(seq({}[]))", element())
                                         : fmt::format("optional({}[])", element());
    case Literal::Kind::map:
      break;
  }
  const Literal& keys = literal.items.at(0);
  const Literal& values = literal.items.at(1);
  return fmt::format("map({}, {})", tensor::onnx_name(dtype_of(keys.dtype, keys.line, scope)),
                     tensor::onnx_name(dtype_of(values.dtype, values.line, scope)));
}

}  // namespace assay::cases
