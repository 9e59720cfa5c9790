#include "backends/onnxrt/ort_values.h"

#include <algorithm>

#include "base/error.h"

namespace assay::backends::ort {

using tensor::Datum;
using tensor::DType;
using tensor::Tensor;

namespace {

// The library numbers element types as ONNX does up to 23; behind that its order is another.
constexpr int kFirstOwnNumber = 24;
constexpr std::array kOwnNumbers = {DType::uint2, DType::int2, DType::float8e8m0};

int to_number(DType dtype) {
  const int number = static_cast<int>(dtype);
  if (number < kFirstOwnNumber) return number;
  for (size_t i = 0; i < kOwnNumbers.size(); ++i) {
    if (kOwnNumbers[i] == dtype) return kFirstOwnNumber + static_cast<int>(i);
  }
  fail(ErrorCode::unsupported, "onnxrt: ONNX Runtime has no element type {}", tensor::name(dtype));
}

DType to_dtype(int number) {
  if (number < kFirstOwnNumber) return static_cast<DType>(number);
  const size_t i = static_cast<size_t>(number - kFirstOwnNumber);
  if (i < kOwnNumbers.size()) return kOwnNumbers[i];
  fail(ErrorCode::unsupported, "onnxrt: the element type {} of ONNX Runtime is not known", number);
}

// Elements in the library's memory.
class ValueStorage final : public tensor::Storage {
 public:
  ValueStorage(Owned<Value> value, tensor::Bytes bytes, std::shared_ptr<const void> holder)
      : holder_(std::move(holder)), value_(std::move(value)), bytes_(bytes) {}
  uint64_t size_bytes() const override { return bytes_.size(); }
  tensor::Bytes bytes() const override { return bytes_; }

 private:
  std::shared_ptr<const void> holder_;
  Owned<Value> value_;
  tensor::Bytes bytes_;
};

class FeedMaker {
 public:
  FeedMaker(const Library& library, std::vector<Datum>& held) : library_(library), held_(held) {}

  Owned<Value> make(const Datum& datum) {
    switch (datum.kind()) {
      case Datum::Kind::tensor:
        return datum.tensor().dtype() == DType::string ? of_strings(datum.tensor()) : of_tensor(datum.tensor());
      case Datum::Kind::sequence:
        return of_sequence(datum.items());
      case Datum::Kind::map:
        return of_map(datum);
      case Datum::Kind::none:
        break;
    }
    fail(ErrorCode::unsupported, "onnxrt: ONNX Runtime's C interface cannot be given an empty optional");
  }

 private:
  Owned<Value> of_tensor(const Tensor& tensor) {
    static std::byte nothing[16] = {};
    const tensor::Bytes bytes = aligned(tensor);
    void* const data = bytes.empty() ? nothing : const_cast<std::byte*>(bytes.data());
    Value* value = nullptr;
    library_.call(kCreateTensorWithData, library_.cpu_memory(), data, bytes.size(), tensor.shape().data(),
                  tensor.shape().size(), to_number(tensor.dtype()), &value);
    return library_.own(value);
  }

  tensor::Bytes aligned(const Tensor& tensor) {
    const tensor::Bytes all = tensor.bytes();
    const tensor::Bytes bytes = all.first(tensor::packed_bytes(tensor.dtype(), tensor.count()).value_or(all.size()));
    const size_t alignment = std::max<size_t>(tensor::bit_width(tensor.dtype()) / 8, 1);
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignment == 0) return bytes;
    const Tensor copy(tensor.dtype(), tensor.shape(), tensor::make_owned({bytes.begin(), bytes.end()}));
    held_.emplace_back(copy);
    return copy.bytes();
  }

  Owned<Value> of_strings(const Tensor& tensor) {
    Value* made = nullptr;
    library_.call(kCreateTensor, library_.allocator(), tensor.shape().data(), tensor.shape().size(),
                  to_number(DType::string), &made);
    Owned<Value> value = library_.own(made);
    const std::span<const std::string> strings = tensor.strings();
    for (size_t i = 0; i < tensor.count(); ++i) {
      char* text = nullptr;
      library_.call(kResizeString, value.get(), i, strings[i].size(), &text);
      std::ranges::copy(strings[i], text);
    }
    return value;
  }

  Owned<Value> of_sequence(const std::vector<Datum>& items) {
    if (items.empty()) {
      fail(ErrorCode::unsupported, "onnxrt: ONNX Runtime's C interface cannot be given an empty sequence");
    }
    std::vector<Owned<Value>> values;
    values.reserve(items.size());
    for (const Datum& item : items) values.push_back(make(item));
    return joined(values, ValueKind::sequence);
  }

  Owned<Value> of_map(const Datum& map) {
    std::vector<Owned<Value>> values;
    values.push_back(make(map.keys()));
    values.push_back(make(map.values()));
    return joined(values, ValueKind::map);
  }

  Owned<Value> joined(const std::vector<Owned<Value>>& parts, ValueKind kind) {
    std::vector<const Value*> pointers;
    pointers.reserve(parts.size());
    for (const Owned<Value>& part : parts) pointers.push_back(part.get());
    Value* value = nullptr;
    library_.call(kCreateValue, pointers.data(), pointers.size(), static_cast<int>(kind), &value);
    return library_.own(value);
  }

  const Library& library_;
  std::vector<Datum>& held_;
};

class DatumMaker {
 public:
  DatumMaker(const Library& library, const std::shared_ptr<const void>& holder) : library_(library), holder_(holder) {}

  Datum make(Owned<Value> value) const {
    int has_value = 0;
    if (value) library_.call(kHasValue, value.get(), &has_value);
    if (has_value == 0) return {};
    int kind = 0;
    library_.call(kGetValueType, value.get(), &kind);
    switch (static_cast<ValueKind>(kind)) {
      case ValueKind::tensor:
        return tensor(std::move(value));
      case ValueKind::sequence:
        return Datum::sequence(items(*value));
      case ValueKind::map:
        return map(*value);
      default:
        fail(ErrorCode::unsupported, "onnxrt: an output is neither tensor, sequence nor map");
    }
  }

 private:
  Tensor tensor(Owned<Value> value) const {
    TensorInfo* made = nullptr;
    library_.call(kGetTensorInfo, value.get(), &made);
    const Owned<TensorInfo> info = library_.own(made);
    int number = 0;
    size_t rank = 0;
    library_.call(kGetElementType, info.get(), &number);
    library_.call(kGetRank, info.get(), &rank);
    tensor::Shape shape(rank);
    library_.call(kGetDims, info.get(), shape.data(), rank);
    const std::optional<uint64_t> count = tensor::element_count(shape);
    if (!count) fail(ErrorCode::backend, "onnxrt: an output has impossible dims");
    const DType dtype = to_dtype(number);
    if (dtype == DType::string) return Tensor(dtype, shape, tensor::make_strings(strings(*value, *count)));
    const uint64_t size = tensor::packed_bytes(dtype, *count).value_or(0);
    void* data = nullptr;
    if (size > 0) library_.call(kGetTensorData, value.get(), &data);
    const tensor::Bytes bytes(static_cast<const std::byte*>(data), size);
    return Tensor(dtype, shape, std::make_shared<ValueStorage>(std::move(value), bytes, holder_));
  }

  std::vector<std::string> strings(const Value& value, uint64_t count) const {
    size_t length = 0;
    library_.call(kGetStringsLength, &value, &length);
    std::string text(length, '\0');
    std::vector<size_t> offsets(count);
    if (count > 0) library_.call(kGetStrings, &value, text.data(), length, offsets.data(), offsets.size());
    offsets.push_back(length);
    std::vector<std::string> result;
    for (size_t i = 0; i < count; ++i) result.push_back(text.substr(offsets[i], offsets[i + 1] - offsets[i]));
    return result;
  }

  Owned<Value> item(const Value& value, size_t i) const {
    Value* made = nullptr;
    library_.call(kGetItem, &value, static_cast<int>(i), library_.allocator(), &made);
    return library_.own(made);
  }

  std::vector<Datum> items(const Value& value) const {
    size_t count = 0;
    library_.call(kGetItemCount, &value, &count);
    std::vector<Datum> result;
    for (size_t i = 0; i < count; ++i) result.push_back(make(item(value, i)));
    return result;
  }

  Datum map(const Value& value) const { return Datum::map(tensor(item(value, 0)), tensor(item(value, 1))); }

  const Library& library_;
  const std::shared_ptr<const void>& holder_;
};

}  // namespace

FeedValue to_value(const Library& library, const Datum& datum) {
  std::vector<Datum> held = {datum};
  Owned<Value> value = FeedMaker(library, held).make(datum);
  return {std::move(held), std::move(value)};
}

Datum to_datum(const Library& library, Owned<Value> value, const std::shared_ptr<const void>& holder) {
  return DatumMaker(library, holder).make(std::move(value));
}

}  // namespace assay::backends::ort
