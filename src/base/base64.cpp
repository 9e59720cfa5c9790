#include "base/base64.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "base/parallel.h"

namespace assay {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint32_t kInvalid = 0x01000000;  // no three bytes have this bit
constexpr uint64_t kPieceGroups = 1 << 14;

using Column = std::array<uint32_t, 256>;

// The columns by place in a group of four: each maps a character to the bits that it adds to the group's three bytes,
// in the order of memory.
constexpr std::array<Column, 4> make_columns() {
  std::array<Column, 4> columns{};
  for (Column& column : columns) column.fill(kInvalid);
  for (uint32_t code = 0; code < kAlphabet.size(); ++code) {
    const auto letter = static_cast<uint8_t>(kAlphabet[code]);
    for (uint32_t place = 0; place < 4; ++place) {
      const uint32_t group = code << (18 - 6 * place);
      columns[place][letter] = (group >> 16 & 0xFF) | (group & 0xFF00) | (group & 0xFF) << 16;
    }
  }
  return columns;
}

constexpr std::array<Column, 4> kColumns = make_columns();

// The text of all pairs of codes.
constexpr std::array<char, size_t{2} * 4096> make_pairs() {
  std::array<char, size_t{2} * 4096> pairs{};
  for (size_t code = 0; code < 4096; ++code) {
    pairs[2 * code] = kAlphabet[code >> 6];
    pairs[2 * code + 1] = kAlphabet[code & 63];
  }
  return pairs;
}

constexpr std::array<char, size_t{2}* 4096> kPairs = make_pairs();

uint32_t decode_group(const char* text) {
  const auto* letters = reinterpret_cast<const uint8_t*>(text);
  return kColumns[0][letters[0]] | kColumns[1][letters[1]] | kColumns[2][letters[2]] | kColumns[3][letters[3]];
}

[[noreturn]] void fail_at_invalid(std::string_view text) {
  const size_t at = std::min(text.find_first_not_of(kAlphabet), text.size() - 1);
  fail(ErrorCode::parse, "base64 text holds the character 0x{:02x}", static_cast<unsigned char>(text[at]));
}

// Whole groups. The low three bytes of each word are stored; all but the last store one byte more, which the next
// overwrites.
void decode_groups(std::string_view text, std::byte* out) {
  const size_t count = text.size() / 4;
  uint32_t seen = 0;
  for (size_t i = 0; i + 1 < count; ++i) {
    const uint32_t word = decode_group(text.data() + 4 * i);
    seen |= word;
    std::memcpy(out + 3 * i, &word, 4);
  }
  if (count > 0) {
    const uint32_t word = decode_group(text.data() + 4 * (count - 1));
    seen |= word;
    std::memcpy(out + 3 * (count - 1), &word, 3);
  }
  if ((seen & kInvalid) != 0) fail_at_invalid(text);
}

void encode_groups(const uint8_t* from, uint64_t count, char* to) {
  for (uint64_t i = 0; i < count; ++i, from += 3, to += 4) {
    const uint32_t group = uint32_t{from[0]} << 16 | uint32_t{from[1]} << 8 | from[2];
    std::memcpy(to, &kPairs[size_t{2} * (group >> 12)], 2);
    std::memcpy(to + 2, &kPairs[size_t{2} * (group & 0xFFF)], 2);
  }
}

size_t padding(std::string_view text) {
  if (text.ends_with("==")) return 2;
  return text.ends_with('=') ? 1 : 0;
}

}  // namespace

uint64_t base64_decoded_size(std::string_view text) {
  if (text.size() % 4 != 0) {
    fail(ErrorCode::parse, "base64 text of {} characters, expected a multiple of 4", text.size());
  }
  return text.size() / 4 * 3 - padding(text);
}

void base64_decode(std::string_view text, std::span<std::byte> out) {
  const size_t padded = padding(text);
  const std::string_view whole = text.substr(0, text.size() - (padded != 0 ? 4 : 0));
  parallel_for(whole.size() / 4, kPieceGroups, [&](uint64_t begin, uint64_t end) {
    decode_groups(whole.substr(4 * begin, 4 * (end - begin)), out.data() + 3 * begin);
  });
  if (padded == 0) return;
  std::string last(text.substr(whole.size(), 4 - padded));
  last.append(padded, 'A');
  std::array<std::byte, 3> bytes{};
  decode_groups(last, bytes.data());
  std::copy_n(bytes.data(), 3 - padded, out.data() + whole.size() / 4 * 3);
}

std::string base64_decode_start(std::string_view text, uint64_t count) {
  const size_t groups = std::min<uint64_t>((count + 2) / 3, text.size() / 4);
  const std::string_view start = text.substr(0, 4 * groups);
  if (start.empty()) return {};
  std::string bytes(base64_decoded_size(start), '\0');
  base64_decode(start, std::as_writable_bytes(std::span(bytes)));
  bytes.resize(std::min<uint64_t>(bytes.size(), count));
  return bytes;
}

void base64_encode(Bytes bytes, std::string& out) {
  const size_t groups = bytes.size() / 3;
  const size_t rest = bytes.size() % 3;
  out.resize(4 * (groups + (rest != 0 ? 1 : 0)));
  const auto* from = reinterpret_cast<const uint8_t*>(bytes.data());
  parallel_for(groups, kPieceGroups, [&](uint64_t begin, uint64_t end) {
    encode_groups(from + 3 * begin, end - begin, out.data() + 4 * begin);
  });
  if (rest == 0) return;
  std::array<uint8_t, 3> last{};
  std::copy_n(from + 3 * groups, rest, last.begin());
  char* const to = out.data() + 4 * groups;
  encode_groups(last.data(), 1, to);
  std::fill(to + 1 + rest, to + 4, '=');
}

std::string base64_encode(Bytes bytes) {
  std::string text;
  base64_encode(bytes, text);
  return text;
}

}  // namespace assay
