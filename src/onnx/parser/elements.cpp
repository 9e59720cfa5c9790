#include "onnx/parser/elements.h"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "tensor/casts.h"

namespace assay::onnx {
namespace {

using tensor::DType;
using tensor::DTypeKind;
using tensor::StoragePtr;

template <typename T>
StoragePtr encode(DType dtype, const std::vector<T>& values) {
  std::vector<std::byte> bytes(tensor::packed_bytes(dtype, values.size()).value_or(0));
  tensor::store(dtype, std::span<const T>(values), 0, bytes);
  return tensor::make_owned(std::move(bytes));
}

double decode_code(DType dtype, double code) {
  const auto byte = static_cast<std::byte>(code);
  double value = 0;
  tensor::load(dtype, tensor::Bytes(&byte, 1), 0, std::span(&value, 1));
  return value;
}

class ElementParser {
 public:
  ElementParser(TextLexer& lexer, DType dtype, uint64_t count) : lexer_(lexer), dtype_(dtype), count_(count) {}

  StoragePtr parse();

 private:
  template <typename T, typename Next>
  std::vector<T> list(uint64_t most, Next&& next);
  template <typename T, typename Next>
  std::vector<T> full_list(uint64_t count, Next&& next);
  void check_count(uint64_t found, uint64_t count);

  StoragePtr parse_strings();
  StoragePtr parse_reals(DType part, uint64_t count);
  StoragePtr parse_integers();
  StoragePtr parse_codes();
  double next_code();
  void note_range(const Number& number, double value);
  bool is_packed(uint64_t found) const;
  StoragePtr encode_codes(std::vector<double> codes) const;

  bool is_floating() const { return tensor::is_floating(dtype_); }
  uint32_t bits() const { return tensor::bit_width(dtype_); }
  bool is_signed() const { return tensor::kind(dtype_) == DTypeKind::signed_integer; }
  int64_t lowest() const { return is_signed() ? -(int64_t{1} << (bits() - 1)) : 0; }
  int64_t highest() const { return (int64_t{1} << (bits() - is_signed())) - 1; }

  TextLexer& lexer_;
  DType dtype_;
  uint64_t count_;
  // Facts of codes: decimals among them, the first one that no element can have, one that is not a byte.
  bool has_decimals_ = false;
  bool has_more_than_bytes_ = false;
  std::optional<Number> beyond_range_;
};

StoragePtr ElementParser::parse() {
  switch (dtype_) {
    case DType::string:
      return parse_strings();
    case DType::float32:
    case DType::float64:
      return parse_reals(dtype_, count_);
    case DType::complex64:
      return parse_reals(DType::float32, 2 * count_);
    case DType::complex128:
      return parse_reals(DType::float64, 2 * count_);
    case DType::uint64:
      return encode(dtype_, full_list<uint64_t>(count_, [this] { return lexer_.expect_unsigned(); }));
    case DType::int64:
      return encode(dtype_, full_list<int64_t>(count_, [this] { return lexer_.expect_integer(); }));
    default:
      return is_floating() || bits() < 8 ? parse_codes() : parse_integers();
  }
}

// The items behind the opening brace, at most `most` of them. Stops before the closing one.
template <typename T, typename Next>
std::vector<T> ElementParser::list(uint64_t most, Next&& next) {
  std::vector<T> items;
  items.reserve(std::min<uint64_t>(most, lexer_.bytes_left() / 2));
  lexer_.expect('{');
  if (lexer_.is_next("...")) {
    lexer_.fail_at(lexer_.offset(), "expected the elements of a tensor, found `...`: they were left out in printing");
  }
  if (lexer_.peek() == '}') return items;
  do {
    if (items.size() == most) lexer_.fail_expected(fmt::format("`}}` after {} elements, as the dims say", most));
    items.push_back(next());
  } while (lexer_.accept(','));
  if (lexer_.peek() != '}') lexer_.fail_expected("`,` or `}`");
  return items;
}

void ElementParser::check_count(uint64_t found, uint64_t count) {
  if (found != count) {
    lexer_.fail_at(lexer_.offset(), fmt::format("expected {} elements, as the dims say, found {}", count, found));
  }
}

template <typename T, typename Next>
std::vector<T> ElementParser::full_list(uint64_t count, Next&& next) {
  std::vector<T> items = list<T>(count, next);
  check_count(items.size(), count);
  return items;
}

StoragePtr ElementParser::parse_strings() {
  return tensor::make_strings(
      full_list<std::string>(count_, [this] { return std::string(lexer_.expect_quoted("a quoted text")); }));
}

StoragePtr ElementParser::parse_reals(DType part, uint64_t count) {
  const bool is_single = part == DType::float32;
  return encode(part, full_list<double>(count, [this, is_single] {
                  const Number number = lexer_.expect_number("a number");
                  return is_single ? lexer_.to_float(number) : lexer_.to_double(number);
                }));
}

StoragePtr ElementParser::parse_integers() {
  const int64_t high = dtype_ == DType::boolean ? 1 : highest();
  return encode(dtype_, full_list<int64_t>(count_, [&] { return lexer_.expect_integer(lowest(), high); }));
}

double ElementParser::next_code() {
  const Number number = lexer_.expect_number(is_floating() ? "a number" : "an integer");
  if (!number.is_integer && !is_floating()) {
    lexer_.fail_at(number.offset, fmt::format("expected an integer, found `{}`", number.text));
  }
  has_decimals_ |= !number.is_integer;
  const double value = lexer_.to_double(number);
  note_range(number, value);
  return value;
}

void ElementParser::note_range(const Number& number, double value) {
  const bool fits = value >= static_cast<double>(lowest()) && value <= static_cast<double>(highest());
  if (!fits && !beyond_range_) beyond_range_ = number;
  has_more_than_bytes_ |= !(value >= 0 && value <= 255);
}

bool ElementParser::is_packed(uint64_t found) const {
  const bool can_be = bits() < 8 && 8 % bits() == 0 && !has_decimals_ && !has_more_than_bytes_;
  return can_be && found == tensor::packed_bytes(dtype_, count_) && (found != count_ || beyond_range_);
}

StoragePtr ElementParser::parse_codes() {
  std::vector<double> codes = list<double>(count_, [this] { return next_code(); });
  if (is_packed(codes.size())) return encode(DType::uint8, codes);
  check_count(codes.size(), count_);
  if (has_decimals_) return encode(dtype_, codes);
  if (beyond_range_) {
    lexer_.fail_at(beyond_range_->offset, fmt::format("expected an integer from {} to {}, found `{}`", lowest(),
                                                      highest(), beyond_range_->text));
  }
  return encode_codes(std::move(codes));
}

StoragePtr ElementParser::encode_codes(std::vector<double> codes) const {
  if (!is_floating()) return encode(dtype_, codes);
  switch (bits()) {
    case 16:
      return encode(DType::uint16, codes);
    case 8:
      return encode(DType::uint8, codes);
    case 4:
      return encode(DType::uint4, codes);
    default:
      break;
  }
  for (double& code : codes) code = decode_code(dtype_, code);
  return encode(dtype_, codes);
}

}  // namespace

tensor::Tensor parse_elements(TextLexer& lexer, DType dtype, tensor::Shape shape) {
  const std::optional<uint64_t> count = tensor::element_count(shape);
  if (!count) lexer.fail_at(lexer.offset(), "the dims of the tensor are too large");
  tensor::StoragePtr storage = ElementParser(lexer, dtype, *count).parse();
  lexer.expect('}');
  return tensor::Tensor(dtype, std::move(shape), std::move(storage));
}

}  // namespace assay::onnx
