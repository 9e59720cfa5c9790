#include "exec/bound_outputs.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/text.h"
#include "tensor/borrowed.h"

namespace assay::exec {
void BoundOutputs::bind(std::vector<OutputBuffer> outputs, const Signature& signature) {
  for (const OutputBuffer& output : outputs) {
    if (find_port(signature.outputs, output.name) == nullptr) {
      fail(ErrorCode::usage, "the model has no output `{}` to bind", printable(output.name));
    }
    const std::optional<uint64_t> count = tensor::element_count(output.shape);
    const std::optional<uint64_t> needed = count ? tensor::packed_bytes(output.dtype, *count) : std::nullopt;
    const uint64_t given = output.on_device ? output.on_device->size_bytes() : output.bytes.size();
    if (output.dtype == tensor::DType::string || needed != given) {
      fail(ErrorCode::usage, "output `{}`: {} bytes do not hold {}[{}]", printable(output.name), given,
           tensor::name(output.dtype), fmt::join(output.shape, ","));
    }
    const size_t alignment = std::max<size_t>(tensor::bit_width(output.dtype) / 8, 1);
    if (reinterpret_cast<uintptr_t>(output.bytes.data()) % alignment != 0) {
      fail(ErrorCode::usage, "output `{}`: its memory is not aligned for {}", printable(output.name),
           tensor::name(output.dtype));
    }
  }
  outputs_ = std::move(outputs);
  places_.clear();
  for (size_t i = 0; i < outputs_.size(); ++i) places_.emplace(outputs_[i].name, i);
}

const OutputBuffer* BoundOutputs::find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &outputs_[found->second];
}

tensor::Tensor BoundOutputs::tensor(const OutputBuffer& output) {
  return {output.dtype, output.shape, output.on_device ? output.on_device : tensor::make_borrowed(output.bytes)};
}

void BoundOutputs::check(const OutputBuffer& output, tensor::DType dtype, std::span<const int64_t> shape) {
  if (dtype == output.dtype && std::ranges::equal(shape, output.shape)) return;
  fail(ErrorCode::usage, "output `{}` is {}[{}], its memory is bound for {}[{}]", printable(output.name),
       tensor::name(dtype), fmt::join(shape, ","), tensor::name(output.dtype), fmt::join(output.shape, ","));
}

tensor::Datum BoundOutputs::placed(std::string_view name, const tensor::Datum& value) const {
  const OutputBuffer* output = find(name);
  if (output == nullptr) return value;
  if (!value.is_tensor()) fail(ErrorCode::usage, "output `{}` is bound, but it is not a tensor", printable(name));
  const tensor::Tensor& given = value.tensor();
  check(*output, given.dtype(), given.shape());
  const tensor::Bytes bytes = given.bytes();
  if (!bytes.empty()) std::memcpy(output->bytes.data(), bytes.data(), bytes.size());
  return tensor(*output);
}

}  // namespace assay::exec
