#include "onnx/printer/elements.h"

#include <algorithm>

#include "onnx/printer/words.h"
#include "tensor/casts.h"

namespace assay::onnx {
namespace {

using tensor::DType;

// A view of the bytes of a tensor for printing, with the count of numbers in it.
struct View {
  DType dtype;
  uint64_t count;
};

View view_of(DType dtype, uint64_t count) {
  const uint32_t bits = tensor::bit_width(dtype);
  if (dtype == DType::complex64) return {DType::float32, 2 * count};
  if (dtype == DType::complex128) return {DType::float64, 2 * count};
  if (bits == 4 || bits == 2) return {DType::uint8, tensor::packed_bytes(dtype, count).value_or(0)};
  if (!tensor::is_floating(dtype) || bits > 16) return {dtype, count};
  return {bits == 16 ? DType::uint16 : DType::uint8, count};
}

// Numbers are converted a block at a time, so that a large tensor needs no second copy of itself.
template <typename Carrier, typename Printed = Carrier>
void append_numbers(std::string& out, const View& view, tensor::Bytes bytes) {
  constexpr uint64_t kBlock = 1024;
  std::array<Carrier, kBlock> block;
  for (uint64_t first = 0; first < view.count; first += kBlock) {
    const uint64_t size = std::min(kBlock, view.count - first);
    tensor::load(view.dtype, bytes, first, std::span(block).first(size));
    for (uint64_t i = 0; i < size; ++i) {
      if (first + i > 0) out += ", ";
      append_number(out, static_cast<Printed>(block[i]));
    }
  }
}

// Elements of six bits lie in a stream of bits, the lowest first.
void append_six_bits(std::string& out, uint64_t count, tensor::Bytes bytes) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t byte = i / 4 * 3 + i % 4 * 6 / 8;
    const uint32_t shift = i % 4 * 6 % 8;
    uint32_t window = std::to_integer<uint32_t>(bytes[byte]);
    if (shift > 2) window |= std::to_integer<uint32_t>(bytes[byte + 1]) << 8;
    if (i > 0) out += ", ";
    append_number(out, window >> shift & 0x3F);
  }
}

void append_all(std::string& out, const tensor::Tensor& tensor) {
  const View view = view_of(tensor.dtype(), tensor.count());
  switch (view.dtype) {
    case DType::float32:
      return append_numbers<double, float>(out, view, tensor.bytes());
    case DType::float64:
      return append_numbers<double>(out, view, tensor.bytes());
    case DType::uint64:
      return append_numbers<uint64_t>(out, view, tensor.bytes());
    default:
      return append_numbers<int64_t>(out, view, tensor.bytes());
  }
}

}  // namespace

void append_elements(std::string& out, const tensor::Tensor& tensor) {
  out += '{';
  if (tensor.dtype() == DType::string) {
    append_list(out, tensor.strings(), [&](const std::string& text) { append_quoted(out, text); });
  } else if (tensor::bit_width(tensor.dtype()) == 6) {
    append_six_bits(out, tensor.count(), tensor.bytes());
  } else {
    append_all(out, tensor);
  }
  out += '}';
}

}  // namespace assay::onnx
