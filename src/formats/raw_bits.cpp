#include "formats/raw_bits.h"

#include "base/error.h"
#include "base/text.h"
#include "formats/numpy/npy.h"

namespace assay::formats {

using tensor::DType;

bool is_raw_bits_type(DType dtype) { return tensor::bit_width(dtype) != 0 && npy_descr(dtype).empty(); }

bool is_packed(DType dtype) { return tensor::bit_width(dtype) != 0 && tensor::bit_width(dtype) < 8; }

tensor::Tensor to_raw_bits(const tensor::Tensor& tensor) {
  const DType bits = tensor::bit_width(tensor.dtype()) == 16 ? DType::uint16 : DType::uint8;
  if (!is_packed(tensor.dtype())) return tensor::Tensor(bits, tensor.shape(), tensor.storage());
  const uint64_t size = *tensor::packed_bytes(tensor.dtype(), tensor.count());
  return tensor::Tensor(bits, {static_cast<int64_t>(size)}, tensor.storage());
}

tensor::Tensor from_raw_bits(const tensor::Tensor& bits, std::string_view dtype,
                             const std::optional<tensor::Shape>& shape) {
  const std::optional<DType> type = tensor::find_dtype(dtype);
  if (!type || !is_raw_bits_type(*type)) {
    fail(ErrorCode::parse, "assay_dtype `{}` is no type whose bits are stored", printable(dtype));
  }
  if (is_packed(*type) && !shape) fail(ErrorCode::parse, "bits of {} without their shape", dtype);
  const tensor::Shape& dims = shape ? *shape : bits.shape();
  const std::optional<uint64_t> count = tensor::element_count(dims);
  const std::optional<uint64_t> needed = count ? tensor::packed_bytes(*type, *count) : std::nullopt;
  const DType carrier = tensor::bit_width(*type) == 16 ? DType::uint16 : DType::uint8;
  if (bits.dtype() != carrier || needed != bits.size_bytes()) {
    fail(ErrorCode::parse, "bits of {} as {} bytes of {}, which do not fit the type and its shape", dtype,
         bits.size_bytes(), tensor::name(bits.dtype()));
  }
  return tensor::Tensor(*type, dims, bits.storage());
}

}  // namespace assay::formats
