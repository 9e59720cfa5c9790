// Serves the interop tests of the tensor module: one request a line on standard input, one answer a line. Elements and
// texts are written as hex digits ("-" for none).
//   decode DTYPE CARRIER COUNT HEX       -> the carriers' bytes        (carrier: double, int64, uint64)
//   encode DTYPE CARRIER HEX             -> the packed elements
//   text DTYPE DIMS THRESHOLD HEX        -> array_text                 (dims: 2,3 or - for a scalar)
//   strings DIMS THRESHOLD HEX,HEX,...   -> array_text of strings
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "tensor/array_text.h"
#include "tensor/casts.h"

namespace {

using namespace assay;
using namespace assay::tensor;

int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

std::vector<std::byte> from_hex(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes.push_back(std::byte(digit(hex[i]) * 16 + digit(hex[i + 1])));
  return bytes;
}

std::string to_hex(Bytes bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const std::byte byte : bytes) {
    hex += kDigits[std::to_integer<int>(byte) >> 4];
    hex += kDigits[std::to_integer<int>(byte) & 15];
  }
  return hex.empty() ? "-" : hex;
}

std::string to_hex(std::string_view text) { return to_hex(std::as_bytes(std::span(text))); }

uint64_t number(std::string_view text) { return std::strtoull(std::string(text).c_str(), nullptr, 10); }

DType dtype(std::string_view name) {
  const std::optional<DType> found = find_dtype(name);
  if (!found) fail(ErrorCode::usage, "unknown dtype `{}`", name);
  return *found;
}

Shape dims(std::string_view text) {
  Shape shape;
  if (text == "-") return shape;
  for (const std::string_view part : split(text, ',')) shape.push_back(static_cast<int64_t>(number(part)));
  return shape;
}

template <typename C>
std::string decode(DType type, uint64_t count, Bytes bytes) {
  std::vector<C> values(count);
  load(type, bytes, 0, std::span<C>(values));
  return to_hex(std::as_bytes(std::span<const C>(values)));
}

template <typename C>
std::string encode(DType type, Bytes carriers) {
  std::vector<C> values(carriers.size() / sizeof(C));
  if (!values.empty()) std::memcpy(values.data(), carriers.data(), carriers.size());
  std::vector<std::byte> packed(packed_bytes(type, values.size()).value_or(0));
  store(type, std::span<const C>(values), 0, packed);
  return to_hex(packed);
}

std::string decode(std::span<const std::string_view> words) {
  const std::vector<std::byte> bytes = from_hex(words[4]);
  if (words[2] == "int64") return decode<int64_t>(dtype(words[1]), number(words[3]), bytes);
  if (words[2] == "uint64") return decode<uint64_t>(dtype(words[1]), number(words[3]), bytes);
  return decode<double>(dtype(words[1]), number(words[3]), bytes);
}

std::string encode(std::span<const std::string_view> words) {
  const std::vector<std::byte> bytes = from_hex(words[3]);
  if (words[2] == "int64") return encode<int64_t>(dtype(words[1]), bytes);
  if (words[2] == "uint64") return encode<uint64_t>(dtype(words[1]), bytes);
  return encode<double>(dtype(words[1]), bytes);
}

std::string text_of_strings(std::span<const std::string_view> words) {
  std::vector<std::string> strings;
  for (const std::string_view hex : split(words[3], ',')) {
    const std::vector<std::byte> bytes = from_hex(hex);
    strings.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  const Tensor tensor(DType::string, dims(words[1]), make_strings(strings));
  return to_hex(array_text(tensor, {.threshold = number(words[2])}));
}

std::string answer(std::string_view request) {
  const std::vector<std::string_view> words = split(request, ' ');
  if (words.size() == 5 && words[0] == "decode") return decode(words);
  if (words.size() == 4 && words[0] == "encode") return encode(words);
  if (words.size() == 4 && words[0] == "strings") return text_of_strings(words);
  if (words.size() != 5 || words[0] != "text") fail(ErrorCode::usage, "unknown request `{}`", request);
  const Tensor tensor(dtype(words[1]), dims(words[2]), make_owned(from_hex(words[4])));
  return to_hex(array_text(tensor, {.threshold = number(words[3])}));
}

std::string answer_or_error(std::string_view request) {
  try {
    return answer(request);
  } catch (const Error& error) {
    return "error: " + error.line();
  }
}

}  // namespace

int main() {
  char* line = nullptr;
  size_t capacity = 0;
  for (ssize_t size = 0; (size = getline(&line, &capacity, stdin)) > 0;) {
    const std::string reply = answer_or_error(std::string_view(line, static_cast<size_t>(size - 1))) + '\n';
    std::fwrite(reply.data(), 1, reply.size(), stdout);
    std::fflush(stdout);
  }
  std::free(line);
  return 0;
}
