#include "tensorflow/source/tensor_proto.h"

#include <algorithm>

#include "base/error.h"
#include "tensor/derived.h"
#include "tensorflow/source/dtypes.h"

namespace assay::tensorflow {
namespace {

using onnx::Field;
using onnx::FieldReader;
using onnx::Message;
using tensor::DType;

// Numbers of the fields that hold elements, one for each group of types.
enum : uint32_t {
  kContent = 4,
  kFloats = 5,
  kDoubles = 6,
  kInts = 7,
  kStrings = 8,
  kInt64s = 10,
  kBools = 11,
  kHalves = 13,
  kUint32s = 16,
  kUint64s = 17,
};

constexpr uint64_t kMostElements = uint64_t{1} << 32;

// Elements that are listed one by one; the last stands for all that are missing.
class Elements {
 public:
  Elements(DType dtype, uint64_t count) : dtype_(dtype), count_(count), width_(tensor::bit_width(dtype) / 8) {}

  void read(const Field& field) {
    switch (field.number) {
      case kFloats:
        return onnx::for_each_fixed<uint32_t>(field, "float_val", [&](uint32_t bits) { add(&bits, sizeof(bits)); });
      case kDoubles:
        return onnx::for_each_fixed<uint64_t>(field, "double_val", [&](uint64_t bits) { add(&bits, sizeof(bits)); });
      case kInts:
      case kInt64s:
      case kBools:
      case kHalves:
      case kUint32s:
      case kUint64s:
        return onnx::for_each_varint(field, "elements", [&](uint64_t bits) { add(&bits, sizeof(bits)); });
      default:
        return;
    }
  }

  tensor::Tensor tensor(tensor::Shape shape) && {
    if (bytes_.empty()) bytes_.resize(width_);  // none at all: zeros
    if (bytes_.size() == count_ * width_) return {dtype_, std::move(shape), tensor::make_owned(std::move(bytes_))};
    if (bytes_.size() == width_) return {dtype_, std::move(shape), tensor::make_fill(std::move(bytes_), count_)};
    auto fill = [listed = std::move(bytes_), width = width_](std::span<std::byte> target) {
      std::ranges::copy(listed, target.begin());
      for (uint64_t at = listed.size(); at < target.size(); at += width) {
        std::copy(listed.end() - static_cast<ptrdiff_t>(width), listed.end(),
                  target.begin() + static_cast<ptrdiff_t>(at));
      }
    };
    return {dtype_, std::move(shape), tensor::make_derived(count_ * width_, std::move(fill))};
  }

 private:
  void add(const void* bits, size_t size) {
    if (bytes_.size() >= count_ * width_) return;
    if (width_ > size) fail(ErrorCode::parse, "a tensor has elements of another type");
    const auto* const begin = static_cast<const std::byte*>(bits);
    bytes_.insert(bytes_.end(), begin, begin + width_);
  }

  DType dtype_;
  uint64_t count_;
  uint64_t width_;
  std::vector<std::byte> bytes_;
};

struct Header {
  DType dtype = DType::undefined;
  std::vector<int64_t> dims;
  Bytes content;
};

Header read_header(const Message& message) {
  Header header;
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 1) header.dtype = tensorflow_dtype(field.value);
    if (field.number == 2) {
      header.dims = read_shape_proto(onnx::as_message(message, field, "tensor_shape")).value_or(std::vector<int64_t>());
    }
    if (field.number == kContent) header.content = field.payload;
  }
  return header;
}

}  // namespace

std::optional<std::vector<int64_t>> read_shape_proto(const Message& message) {
  std::vector<int64_t> dims;
  bool is_unknown = false;
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == 3) is_unknown = field.value != 0;
    if (field.number != 2) continue;
    int64_t size = 0;
    Field part;
    for (FieldReader parts(onnx::as_message(message, field, "dim")); parts.next(part);) {
      if (part.number == 1) size = onnx::as_int(part, "size");
    }
    dims.push_back(size < 0 ? -1 : size);
  }
  return is_unknown ? std::nullopt : std::optional(dims);
}

std::optional<tensor::Tensor> read_tensor_proto(const Message& message, const std::shared_ptr<const MappedFile>& file) {
  Header header = read_header(message);
  const uint32_t width = tensor::bit_width(header.dtype);
  if (width == 0 || width % 8 != 0 || tensor::kind(header.dtype) == tensor::DTypeKind::complex) return std::nullopt;
  const auto count = tensor::element_count(header.dims);
  if (!count || *count > kMostElements) fail(ErrorCode::parse, "a tensor has no shape that can be");
  const uint64_t size = *count * (width / 8);
  if (!header.content.empty()) {
    if (header.content.size() < size) fail(ErrorCode::parse, "a tensor has less elements than its shape says");
    const auto offset = static_cast<uint64_t>(header.content.data() - file->bytes().data());
    return tensor::Tensor(header.dtype, std::move(header.dims), tensor::make_mapped(file, offset, size));
  }
  Elements elements(header.dtype, *count);
  Field field;
  for (FieldReader fields(message); fields.next(field);) elements.read(field);
  return std::move(elements).tensor(std::move(header.dims));
}

std::vector<std::string> read_string_tensor(const Message& message) {
  std::vector<std::string> texts;
  Field field;
  for (FieldReader fields(message); fields.next(field);) {
    if (field.number == kStrings) texts.emplace_back(onnx::as_string(field, "string_val"));
  }
  return texts;
}

}  // namespace assay::tensorflow
