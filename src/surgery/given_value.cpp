#include "surgery/given_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/constants.h"
#include "tensor/casts.h"

namespace assay::surgery {
namespace {

using ir::AttributeType;
using ir::Symbol;
using tensor::DType;
using tensor::DTypeKind;

std::string described(const GivenValue& value) {
  const std::string words = printable(join(value.words, ","));
  return value.is_list ? fmt::format("[{}]", words) : words;
}

// The nearest number; infinity if it is too large. nullopt: the word is no number.
template <typename T>
std::optional<T> read(std::string_view word) {
  if (word.starts_with('+') && word.size() > 1 && word[1] != '-') word.remove_prefix(1);
  T number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_read = error == std::errc() && end == word.data() + word.size() && !word.empty();
  return is_read ? std::optional(number) : std::nullopt;
}

template <typename T>
T number_of(std::string_view word, std::string_view type) {
  const std::optional<T> number = read<T>(word);
  if (!number) fail(ErrorCode::usage, "`{}` is no number of the type {}", printable(word), type);
  return *number;
}

bool is_in_range(DType dtype, int64_t number) {
  const bool is_signed = tensor::kind(dtype) == DTypeKind::signed_integer;
  const uint32_t bits = tensor::bit_width(dtype) - (is_signed ? 1 : 0);
  if (bits >= 63) return is_signed || number >= 0;
  const int64_t most = (int64_t{1} << bits) - 1;
  return number <= most && number >= (is_signed ? -most - 1 : 0);
}

int64_t integer_of(DType dtype, std::string_view word) {
  const auto number = number_of<int64_t>(word, tensor::name(dtype));
  if (!is_in_range(dtype, number)) {
    fail(ErrorCode::usage, "`{}` is beyond the range of {}", printable(word), tensor::name(dtype));
  }
  return number;
}

int64_t boolean_of(std::string_view word) {
  if (word == "true" || word == "True" || word == "1") return 1;
  if (word == "false" || word == "False" || word == "0") return 0;
  fail(ErrorCode::usage, "`{}` is no boolean; expected true or false", printable(word));
}

template <typename T, typename Read>
tensor::StoragePtr encode(DType dtype, const std::vector<std::string>& words, Read&& read) {
  std::vector<T> numbers;
  for (const std::string& word : words) numbers.push_back(read(word));
  std::vector<std::byte> bytes(tensor::packed_bytes(dtype, words.size()).value_or(0));
  tensor::store(dtype, std::span<const T>(numbers), 0, bytes);
  return tensor::make_owned(std::move(bytes));
}

tensor::StoragePtr storage_of(DType dtype, const std::vector<std::string>& words) {
  switch (tensor::kind(dtype)) {
    case DTypeKind::string:
      return tensor::make_strings(words);
    case DTypeKind::boolean:
      return encode<int64_t>(dtype, words, boolean_of);
    case DTypeKind::floating:
      return encode<double>(dtype, words, [&](const std::string& word) -> double {
        if (dtype == DType::float32) return number_of<float>(word, "float32");
        return number_of<double>(word, tensor::name(dtype));
      });
    case DTypeKind::signed_integer:
    case DTypeKind::unsigned_integer:
      if (dtype == DType::uint64) {
        return encode<uint64_t>(dtype, words,
                                [](const std::string& word) { return number_of<uint64_t>(word, "uint64"); });
      }
      return encode<int64_t>(dtype, words, [&](const std::string& word) { return integer_of(dtype, word); });
    default:
      fail(ErrorCode::usage, "elements of {} cannot be given as words; expected a file", tensor::name(dtype));
  }
}

AttributeType looks_like(const GivenValue& value) {
  const auto are_all = [&](auto&& reads) { return std::ranges::all_of(value.words, reads); };
  if (!value.is_quoted && are_all([](const std::string& word) { return read<int64_t>(word).has_value(); }))
    return value.is_list ? AttributeType::integers : AttributeType::integer;
  if (!value.is_quoted && are_all([](const std::string& word) { return read<float>(word).has_value(); }))
    return value.is_list ? AttributeType::floats : AttributeType::floating;
  return value.is_list ? AttributeType::strings : AttributeType::string;
}

template <typename T, typename Read>
std::span<const T> list_of(ir::Model& model, const GivenValue& value, Read&& read) {
  std::vector<T> items;
  for (const std::string& word : value.words) items.push_back(read(word));
  return model.arena().copy(std::span<const T>(items));
}

int64_t as_integer(const std::string& word) { return number_of<int64_t>(word, "integer"); }
float as_float(const std::string& word) { return number_of<float>(word, "float32"); }

void check_form(const ir::Model& model, Symbol name, const GivenValue& value, bool takes_list) {
  if (value.tensor) fail(ErrorCode::usage, "attribute `{}` is no tensor", printable(model.text(name)));
  if (value.is_list == takes_list) return;
  const std::string text = printable(model.text(name));
  if (takes_list) fail(ErrorCode::usage, "attribute `{0}` is a list; expected {0}=[{1}]", text, described(value));
  fail(ErrorCode::usage, "attribute `{}` is no list, seen {}", text, described(value));
}

}  // namespace

tensor::Tensor tensor_of(const GivenValue& value, DType dtype, tensor::Shape shape) {
  if (value.tensor) return *value.tensor;
  if (value.is_quoted && tensor::kind(dtype) != DTypeKind::string) {
    fail(ErrorCode::usage, "`{}` is text, expected {}", described(value), tensor::name(dtype));
  }
  return {dtype, std::move(shape), storage_of(dtype, value.words)};
}

ir::Attribute attribute_of(ir::Model& model, Symbol name, AttributeType type, const GivenValue& value) {
  if (type == AttributeType::undefined) type = value.tensor ? AttributeType::tensor : looks_like(value);
  if (type == AttributeType::tensor) {
    ir::Edit edit(model);
    tensor::Shape shape;
    if (value.is_list) shape.push_back(static_cast<int64_t>(value.words.size()));
    const bool is_integer = looks_like(value) == AttributeType::integer || looks_like(value) == AttributeType::integers;
    const DType dtype = is_integer ? DType::int64 : DType::float32;
    return ir::tensor_attribute(edit, model.text(name), tensor_of(value, dtype, std::move(shape)));
  }
  const auto symbol = [&](const std::string& word) { return model.symbols().intern(word); };
  const bool is_one =
      type == AttributeType::integer || type == AttributeType::floating || type == AttributeType::string;
  check_form(model, name, value, !is_one);
  switch (type) {
    case AttributeType::integer:
      return ir::Attribute::of(name, as_integer(value.words.front()));
    case AttributeType::floating:
      return ir::Attribute::of(name, as_float(value.words.front()));
    case AttributeType::string:
      return ir::Attribute::of(name, type, symbol(value.words.front()));
    case AttributeType::integers:
      return ir::Attribute::list(name, type, list_of<int64_t>(model, value, as_integer));
    case AttributeType::floats:
      return ir::Attribute::list(name, type, list_of<float>(model, value, as_float));
    case AttributeType::strings:
      return ir::Attribute::list(name, type, list_of<Symbol>(model, value, symbol));
    default:
      fail(ErrorCode::usage, "attribute `{}` holds a graph, a type or tensors, which cannot be set",
           printable(model.text(name)));
  }
}

}  // namespace assay::surgery
