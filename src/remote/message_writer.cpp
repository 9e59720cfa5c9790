#include <bit>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "remote/message.h"

namespace assay::remote {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kAlignment = 64;

void append(std::vector<std::byte>& bytes, const void* data, size_t size) {
  const auto* begin = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), begin, begin + size);
}

// Each string as its length in 4 bytes and its bytes.
tensor::StoragePtr encoded_strings(std::span<const std::string> strings) {
  std::vector<std::byte> bytes;
  for (const std::string& text : strings) {
    if (text.size() > std::numeric_limits<uint32_t>::max()) fail(ErrorCode::limit, "a string of 4 GiB cannot be sent");
    const auto size = static_cast<uint32_t>(text.size());
    append(bytes, &size, sizeof size);
    append(bytes, text.data(), text.size());
  }
  return tensor::make_owned(std::move(bytes));
}

}  // namespace

MessageWriter& MessageWriter::number(uint64_t value) {
  append(message_.body, &value, sizeof value);
  return *this;
}

MessageWriter& MessageWriter::real(double value) { return number(std::bit_cast<uint64_t>(value)); }

MessageWriter& MessageWriter::text(std::string_view value) {
  number(value.size());
  append(message_.body, value.data(), value.size());
  return *this;
}

MessageWriter& MessageWriter::texts(std::span<const std::string> values) {
  number(values.size());
  for (const std::string& value : values) text(value);
  return *this;
}

MessageWriter& MessageWriter::data(std::span<const tensor::NamedDatum> values) {
  number(values.size());
  for (const tensor::NamedDatum& value : values) text(value.name).datum(value.value);
  return *this;
}

MessageWriter& MessageWriter::datum(const tensor::Datum& value) {
  number(static_cast<uint64_t>(value.kind()));
  switch (value.kind()) {
    case tensor::Datum::Kind::none:
      break;
    case tensor::Datum::Kind::tensor:
      tensor(value.tensor());
      number(static_cast<uint64_t>(value.declared()));
      break;
    case tensor::Datum::Kind::sequence:
      number(value.items().size());
      for (const tensor::Datum& item : value.items()) datum(item);
      break;
    case tensor::Datum::Kind::map:
      tensor(value.keys());
      tensor(value.values());
      break;
  }
  return *this;
}

// dtype, dims, where its elements are in the memory and how many bytes they take.
void MessageWriter::tensor(const tensor::Tensor& value) {
  if (!tensor::is_known(value.dtype())) {
    fail(ErrorCode::unsupported, "tensors of {} cannot be sent to another process", tensor::name(value.dtype()));
  }
  const bool is_text = value.dtype() == tensor::DType::string;
  tensor::StoragePtr content = is_text ? encoded_strings(value.strings()) : value.storage();
  const uint64_t size = content ? content->size_bytes() : 0;
  number(static_cast<uint64_t>(value.dtype())).number(value.shape().size());
  for (const int64_t dim : value.shape()) number(static_cast<uint64_t>(dim));
  const uint64_t offset = (message_.memory_bytes + kAlignment - 1) / kAlignment * kAlignment;
  number(size == 0 ? 0 : offset).number(size);
  if (size == 0) return;
  message_.memory_bytes = offset + size;
  message_.placed.push_back({offset, std::move(content)});
}

}  // namespace assay::remote
