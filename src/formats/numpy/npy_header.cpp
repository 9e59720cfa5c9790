#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "formats/numpy/npy.h"

namespace assay::formats {
namespace {

using tensor::DType;

constexpr std::string_view kMagic = "\x93NUMPY";

struct Descr {
  std::string_view text;  // with the byte order of this machine
  DType dtype;
};

constexpr std::array kDescrs = {
    Descr{"|b1", DType::boolean},   Descr{"|i1", DType::int8},        Descr{"|u1", DType::uint8},
    Descr{"<i2", DType::int16},     Descr{"<u2", DType::uint16},      Descr{"<i4", DType::int32},
    Descr{"<u4", DType::uint32},    Descr{"<i8", DType::int64},       Descr{"<u8", DType::uint64},
    Descr{"<f2", DType::float16},   Descr{"<f4", DType::float32},     Descr{"<f8", DType::float64},
    Descr{"<c8", DType::complex64}, Descr{"<c16", DType::complex128},
};

// The few literals of Python that a header is made of.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : text_(text) {}

  bool accept(char wanted) {
    skip_blanks();
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(ErrorCode::parse, "npy header: expected `{}` at `{}`", wanted, rest());
  }
  std::string_view quoted() {
    skip_blanks();
    const char quote = text_.empty() ? '\0' : text_.front();
    const size_t end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail(ErrorCode::parse, "npy header: expected a quoted word at `{}`", rest());
    const std::string_view word = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return word;
  }
  bool truth() {
    skip_blanks();
    const bool is_true = text_.starts_with("True");
    if (!is_true && !text_.starts_with("False")) fail(ErrorCode::parse, "npy header: expected a bool at `{}`", rest());
    text_.remove_prefix(is_true ? 4 : 5);
    return is_true;
  }
  tensor::Shape dims() {
    tensor::Shape shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }
  bool at_quote() {
    skip_blanks();
    return !text_.empty() && (text_.front() == '\'' || text_.front() == '"');
  }
  bool at_end() {
    skip_blanks();
    return text_.empty();
  }

 private:
  void skip_blanks() {
    const size_t at = text_.find_first_not_of(" \n");
    text_.remove_prefix(at == std::string_view::npos ? text_.size() : at);
  }
  int64_t number() {
    skip_blanks();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) fail(ErrorCode::parse, "npy header: expected a dim at `{}`", rest());
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    accept('L');  // written by Python 2
    return value;
  }
  std::string rest() const { return printable(text_.substr(0, 20)); }

  std::string_view text_;
};

// The begin and the size of the dict.
struct HeaderPlace {
  uint64_t begin;
  uint64_t size;
};

// The place of the dict, as the fixed part says; the file may end before.
HeaderPlace find_dict(std::string_view start) {
  if (!starts_as_npy(start)) fail(ErrorCode::parse, "not an .npy: it does not start with \\x93NUMPY");
  const uint64_t version = start.size() > 6 ? static_cast<uint8_t>(start[6]) : 0;
  const uint64_t begin = version == 1 ? 10 : 12;
  if (start.size() < begin) fail(ErrorCode::parse, "npy header: the file ends within it");
  if (version < 1 || version > 3) fail(ErrorCode::parse, "npy version {}, expected 1, 2 or 3", version);
  uint32_t size = 0;
  std::memcpy(&size, start.data() + 8, begin - 8);
  if (size > kNpyLongestHeader) fail(ErrorCode::parse, "npy header of {} bytes, at most {}", size, kNpyLongestHeader);
  return {begin, size};
}

bool is_string_descr(std::string_view word, NpyHeader& header) {
  const char letter = word.size() > 1 ? word[1] : '\0';
  if (letter != 'U' && letter != 'S') return false;
  uint32_t width = 0;
  const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), width);
  if (error != std::errc() || end != word.data() + word.size()) return false;
  header.dtype = DType::string;
  header.item = letter == 'U' ? NpyItem::code_points : NpyItem::characters;
  header.item_bytes = uint64_t{width} * (letter == 'U' ? 4 : 1);
  header.big_endian = word[0] == '>';
  return true;
}

void read_descr(std::string_view word, NpyHeader& header) {
  if (is_string_descr(word, header)) return;
  for (const Descr& known : kDescrs) {
    const bool has_order = word.size() > 1 && std::string_view("<>=|").find(word[0]) != std::string_view::npos;
    if (!has_order || word.substr(1) != known.text.substr(1)) continue;
    header.dtype = known.dtype;
    header.item_bytes = tensor::bit_width(known.dtype) / 8;
    header.big_endian = word[0] == '>';
    return;
  }
  if (word.find('O') != std::string_view::npos) {
    fail(ErrorCode::parse, "npy: the array holds Python objects, expected numbers or strings");
  }
  fail(ErrorCode::parse, "npy: elements of type `{}`, expected numbers, booleans or strings", printable(word));
}

void read_entry(HeaderText& text, std::string_view key, NpyHeader& header) {
  if (key == "descr") {
    if (!text.at_quote()) fail(ErrorCode::parse, "npy: a structured array, expected one of plain elements");
    read_descr(text.quoted(), header);
  } else if (key == "fortran_order") {
    header.fortran_order = text.truth();
  } else if (key == "shape") {
    header.shape = text.dims();
  } else {
    fail(ErrorCode::parse, "npy header: unknown key `{}`", printable(key));
  }
}

void read_dict(HeaderText text, NpyHeader& header) {
  std::vector<std::string_view> seen;
  text.expect('{');
  while (!text.accept('}')) {
    const std::string_view key = text.quoted();
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      fail(ErrorCode::parse, "npy header: the key `{}` occurs twice", printable(key));
    }
    seen.push_back(key);
    text.expect(':');
    read_entry(text, key, header);
    if (!text.accept(',')) {
      text.expect('}');
      break;
    }
  }
  if (seen.size() != 3) fail(ErrorCode::parse, "npy header: expected descr, fortran_order and shape");
  if (!text.at_end()) fail(ErrorCode::parse, "npy header: unexpected text after it");
}

std::string shape_text(const tensor::Shape& shape) {
  std::string text;
  for (const int64_t dim : shape) text += (text.empty() ? "" : ", ") + fmt::format("{}", dim);
  return "(" + text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace

bool starts_as_npy(std::string_view start) { return start.starts_with(kMagic); }

std::string_view npy_descr(DType dtype) {
  for (const Descr& known : kDescrs) {
    if (known.dtype == dtype) return known.text;
  }
  return {};
}

uint64_t npy_data_offset(std::string_view start) {
  const HeaderPlace place = find_dict(start);
  return place.begin + place.size;
}

NpyHeader parse_npy_header(std::string_view start) {
  const HeaderPlace place = find_dict(start);
  if (place.size > start.size() - place.begin) fail(ErrorCode::parse, "npy header: the file ends within it");
  NpyHeader header;
  header.data_offset = place.begin + place.size;
  read_dict(HeaderText(start.substr(place.begin, place.size)), header);
  const std::optional<uint64_t> count = tensor::element_count(header.shape);
  if (!count || __builtin_mul_overflow(*count, header.item_bytes, &header.data_bytes)) {
    fail(ErrorCode::parse, "npy: shape {} is too large", shape_text(header.shape));
  }
  return header;
}

// Numpy leaves room for the first dim to grow to 21 digits, then fills up to a multiple of 64.
std::string npy_header_text(std::string_view descr, const tensor::Shape& shape) {
  constexpr size_t kGrowth = 21, kAlign = 64, kStart = 10;
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape_text(shape));
  if (!shape.empty()) dict.append(kGrowth - fmt::format("{}", shape[0]).size(), ' ');
  dict.append(kAlign - (kStart + dict.size() + 1) % kAlign, ' ');
  dict += '\n';
  const auto size = static_cast<uint16_t>(dict.size());
  if (dict.size() != size) fail(ErrorCode::usage, "an .npy of rank {} cannot be written", shape.size());
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(size & 0xFF), static_cast<char>(size >> 8)};
  return header + dict;
}

}  // namespace assay::formats
