#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "library/content.h"
#include "tensor/dtype.h"

namespace assay {
namespace {

tensor::DType dtype_of(const std::string& type) {
  const std::optional<tensor::DType> found = tensor::find_dtype(type);
  if (!found) fail(ErrorCode::usage, "there is no element type `{}`", printable(type));
  return *found;
}

std::shared_ptr<const Tensor::Content> content_of(tensor::Tensor tensor) {
  std::string type = tensor::name(tensor.dtype());
  return std::make_shared<const Tensor::Content>(Tensor::Content{std::move(tensor), std::move(type)});
}

tensor::Tensor filled(tensor::DType dtype, Tensor::Shape shape, std::span<const std::byte> bytes) {
  tensor::Tensor tensor(dtype, std::move(shape), tensor::make_owned({bytes.begin(), bytes.end()}));
  const std::optional<uint64_t> needed = tensor::packed_bytes(dtype, tensor.count());
  if (needed && *needed == bytes.size()) return tensor;
  fail(ErrorCode::shape, "{} bytes do not fill a tensor of {} elements of type {}", bytes.size(), tensor.count(),
       tensor::name(dtype));
}

}  // namespace

Tensor::Tensor() : content_(content_of({})) {}

Tensor::Tensor(const std::string& type, Shape shape, std::span<const std::byte> bytes)
    : content_(content_of(filled(dtype_of(type), std::move(shape), bytes))) {}

Tensor::Tensor(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

Tensor Tensor::of_strings(Shape shape, std::vector<std::string> elements) {
  const size_t count = elements.size();
  tensor::Tensor tensor(tensor::DType::string, std::move(shape), tensor::make_strings(std::move(elements)));
  if (tensor.count() != count) {
    fail(ErrorCode::shape, "{} strings do not fill a tensor of {} elements", count, tensor.count());
  }
  return library::to_public(tensor);
}

const char* Tensor::type() const { return content_->type.c_str(); }
const Tensor::Shape& Tensor::shape() const { return content_->array.shape(); }
uint64_t Tensor::count() const { return content_->array.count(); }
std::span<const std::byte> Tensor::bytes() const { return content_->array.bytes(); }
std::span<const std::string> Tensor::strings() const { return content_->array.strings(); }

const void* Tensor::data_of(const char* type) const {
  if (content_->type != type) {
    fail(ErrorCode::usage, "the elements are of type {}, requested is {}", content_->type, type);
  }
  return bytes().data();
}

namespace library {

Tensor to_public(const tensor::Tensor& tensor) { return Tensor(content_of(tensor)); }

Values to_public(const tensor::NamedData& data) {
  Values values;
  for (const tensor::NamedDatum& datum : data) {
    if (datum.value.is_tensor()) values.emplace_back(datum.name, to_public(datum.value.tensor()));
  }
  return values;
}

tensor::NamedData to_internal(const Values& values) {
  tensor::NamedData data;
  for (const auto& [name, value] : values) data.push_back({name, value.content().array});
  return data;
}

std::vector<tensor::NamedData> to_internal(const std::vector<Values>& sets) {
  std::vector<tensor::NamedData> result;
  for (const Values& values : sets) result.push_back(to_internal(values));
  return result;
}

}  // namespace library
}  // namespace assay
