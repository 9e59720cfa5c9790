#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "remote/message.h"

namespace assay::remote {
namespace {

constexpr int kMostDepth = 100;
constexpr uint64_t kAlignment = 64;
constexpr uint64_t kNumberBytes = sizeof(uint64_t);

[[noreturn]] void damaged(std::string_view what) {
  fail(ErrorCode::backend, "a message of another process is damaged: {}", what);
}

template <typename T>
bool is_sorted(const tensor::Tensor& keys) {
  const Bytes bytes = keys.bytes();
  std::vector<T> elements(keys.count());
  if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(T));
  return std::ranges::is_sorted(elements);
}

bool is_sorted_map(const tensor::Tensor& keys, const tensor::Tensor& values) {
  if (keys.shape().size() != 1 || values.shape().size() != 1 || keys.count() != values.count()) return false;
  if (keys.dtype() == tensor::DType::string) return std::ranges::is_sorted(keys.strings());
  return keys.dtype() == tensor::DType::int64 && is_sorted<int64_t>(keys);
}

tensor::DType checked_dtype(uint64_t number) {
  const auto dtype = static_cast<tensor::DType>(number);
  if (number > 1000 || !tensor::is_known(dtype)) damaged("an unknown element type");
  return dtype;
}

}  // namespace

uint64_t MessageReader::number() {
  uint64_t value = 0;
  if (rest_.size() < kNumberBytes) damaged("it ends early");
  std::memcpy(&value, rest_.data(), kNumberBytes);
  rest_ = rest_.subspan(kNumberBytes);
  return value;
}

double MessageReader::real() { return std::bit_cast<double>(number()); }

uint64_t MessageReader::count_of(uint64_t each) {
  const uint64_t count = number();
  if (count > rest_.size() / each) damaged("a count is larger than what follows");
  return count;
}

std::string MessageReader::text() {
  const uint64_t size = count_of(1);
  const std::string value(reinterpret_cast<const char*>(rest_.data()), size);
  rest_ = rest_.subspan(size);
  return value;
}

std::vector<std::string> MessageReader::texts() {
  std::vector<std::string> values(count_of(kNumberBytes));
  for (std::string& value : values) value = text();
  return values;
}

tensor::NamedData MessageReader::data() {
  tensor::NamedData values(count_of(2 * kNumberBytes));
  for (tensor::NamedDatum& value : values) {
    value.name = text();
    value.value = datum();
  }
  return values;
}

void MessageReader::finish() const {
  if (!rest_.empty()) damaged("something follows its last part");
}

tensor::Datum MessageReader::datum_within(int depth) {
  if (depth > kMostDepth) damaged("sequences are nested too deep");
  switch (number()) {
    case static_cast<uint64_t>(tensor::Datum::Kind::none):
      return {};
    case static_cast<uint64_t>(tensor::Datum::Kind::tensor): {
      tensor::Tensor value = tensor();
      const tensor::DType declared = checked_dtype(number());
      return {std::move(value), declared};
    }
    case static_cast<uint64_t>(tensor::Datum::Kind::sequence): {
      std::vector<tensor::Datum> items(count_of(kNumberBytes));
      for (tensor::Datum& item : items) item = datum_within(depth + 1);
      return tensor::Datum::sequence(std::move(items));
    }
    case static_cast<uint64_t>(tensor::Datum::Kind::map):
      return map();
    default:
      damaged("an unknown kind of value");
  }
}

tensor::Datum MessageReader::map() {
  tensor::Tensor keys = tensor();
  tensor::Tensor values = tensor();
  if (!is_sorted_map(keys, values)) damaged("a map is out of order");
  return tensor::Datum::map(std::move(keys), std::move(values));
}

tensor::Tensor MessageReader::tensor() {
  const tensor::DType dtype = checked_dtype(number());
  tensor::Shape shape(count_of(kNumberBytes));
  for (int64_t& dim : shape) dim = static_cast<int64_t>(number());
  const uint64_t offset = number();
  const uint64_t size = number();
  const std::optional<uint64_t> count = tensor::element_count(shape);
  if (!count || offset % kAlignment != 0) damaged("a tensor has impossible dims or a crooked place");
  const tensor::StoragePtr storage = make_shared_storage(memory_, offset, size);
  if (dtype == tensor::DType::string) return {dtype, std::move(shape), strings(storage, *count)};
  if (tensor::packed_bytes(dtype, *count) != size) damaged("the size of a tensor is not that of its elements");
  return {dtype, std::move(shape), storage};
}

tensor::StoragePtr MessageReader::strings(const tensor::StoragePtr& storage, uint64_t count) const {
  Bytes rest = storage->bytes();
  if (count > rest.size() / sizeof(uint32_t)) damaged("a tensor has more strings than its memory");
  std::vector<std::string> strings(count);
  for (std::string& text : strings) {
    uint32_t size = 0;
    if (rest.size() < sizeof size) damaged("a string ends early");
    std::memcpy(&size, rest.data(), sizeof size);
    rest = rest.subspan(sizeof size);
    if (size > rest.size()) damaged("a string ends early");
    text.assign(reinterpret_cast<const char*>(rest.data()), size);
    rest = rest.subspan(size);
  }
  if (!rest.empty()) damaged("something follows the strings of a tensor");
  return tensor::make_strings(std::move(strings));
}

}  // namespace assay::remote
