#include "ops/eval.h"

#include <complex>
#include <string>
#include <type_traits>

#include "base/check.h"
#include "base/parallel.h"
#include "ops/kernels/elements/known_elements.h"

namespace assay::ops {
namespace {

constexpr uint64_t kGrain = 1 << 16;  // elements a piece; a multiple of 8, so that no two pieces share a byte

// A vector as storage, so that results in their own type are not copied.
template <typename C>
class VectorStorage final : public tensor::Storage {
 public:
  explicit VectorStorage(std::vector<C> elements) : elements_(std::move(elements)) {}
  uint64_t size_bytes() const override { return elements_.size() * sizeof(C); }
  tensor::Bytes bytes() const override { return std::as_bytes(std::span(elements_)); }

 private:
  std::vector<C> elements_;
};

template <typename C>
constexpr DType kOwnType = std::is_same_v<C, double>    ? DType::float64
                           : std::is_same_v<C, int64_t> ? DType::int64
                                                        : DType::uint64;

// Dims that are computed from a longer list than inference follows.
void refuse_long_shapes(std::span<const Datum> inputs) {
  for (const Datum& input : inputs) {
    if (!input.is_tensor() || input.tensor().count() <= kMaxKnownElements) continue;
    fail(ErrorCode::limit, "its shape follows from {} numbers, at most {} are followed", input.tensor().count(),
         kMaxKnownElements);
  }
}

}  // namespace

template <typename C>
Tensor make_rounded(DType dtype, Shape shape, std::vector<C> elements) {
  ASSAY_CHECK(tensor::element_count(shape) == elements.size());
  if constexpr (std::is_same_v<C, std::string>) {
    return Tensor(dtype, std::move(shape), tensor::make_strings(std::move(elements)));
  } else {
    const std::optional<uint64_t> size = tensor::packed_bytes(dtype, elements.size());
    ASSAY_CHECK(size.has_value());
    if constexpr (std::is_same_v<C, std::complex<double>>) {
      std::vector<std::byte> bytes(*size);
      tensor::store_complex(dtype, elements, 0, bytes);
      return Tensor(dtype, std::move(shape), tensor::make_owned(std::move(bytes)));
    } else {
      if (dtype == kOwnType<C>) {
        return Tensor(dtype, std::move(shape), std::make_shared<VectorStorage<C>>(std::move(elements)));
      }
      std::vector<std::byte> bytes(*size);
      parallel_for(elements.size(), kGrain, [&](uint64_t begin, uint64_t end) {
        tensor::store(dtype, std::span<const C>(elements).subspan(begin, end - begin), begin, bytes);
      });
      return Tensor(dtype, std::move(shape), tensor::make_owned(std::move(bytes)));
    }
  }
}

bool Eval::has(uint32_t input) const { return input < inputs_.size() && !inputs_[input].is_none(); }

bool Eval::wants(uint32_t output) const { return output < outputs_.size() && ir_node().results[output].valid(); }

Shape Eval::out_shape(uint32_t output) const {
  const Type& type = types_[output];
  if (!type.dims) refuse_long_shapes(inputs_);
  ASSAY_CHECK(type.dims.has_value());
  const std::optional<std::vector<int64_t>> shape = numbers(*type.dims);
  // Inputs being concrete, a dim is unknown only where computing it overflowed.
  if (!shape) fail(ErrorCode::limit, "the dims of output {} do not fit into 64 bits: {}", output, text(*type.dims));
  return *shape;
}

uint64_t Eval::out_count(uint32_t output) const {
  const std::optional<uint64_t> count = tensor::element_count(out_shape(output));
  ASSAY_CHECK(count.has_value());
  return *count;
}

DType Eval::stored(DType declared) const {
  if (!is_wide_) return declared;
  if (declared == DType::complex64) return DType::complex128;
  return tensor::is_floating(declared) ? DType::float64 : declared;
}

template <typename C>
std::vector<C> Eval::load(uint32_t input) const {
  return load_elements<C>(tensor_in(input));
}

template <typename C>
C Eval::scalar(uint32_t input, C otherwise) const {
  if (!has(input)) return otherwise;
  if (count(input) != 1) {
    fail(ErrorCode::shape, "input {} must have one element, it has {}", input, count(input));
  }
  return load<C>(input).front();
}

template <typename C>
void Eval::store(uint32_t output, std::vector<C> elements) {
  if (wants(output)) store(output, out_shape(output), std::move(elements));
}

template <typename C>
void Eval::store(uint32_t output, Shape shape, std::vector<C> elements) {
  if (!wants(output)) return;
  const DType declared = out_dtype(output);
  outputs_[output] = Datum(make_rounded(stored(declared), std::move(shape), std::move(elements)), declared);
}

void Eval::set_tensor(uint32_t output, Tensor value) {
  if (wants(output)) outputs_[output] = Datum(std::move(value), out_dtype(output));
}

template Tensor make_rounded(DType, Shape, std::vector<double>);
template Tensor make_rounded(DType, Shape, std::vector<int64_t>);
template Tensor make_rounded(DType, Shape, std::vector<uint64_t>);
template Tensor make_rounded(DType, Shape, std::vector<std::complex<double>>);
template Tensor make_rounded(DType, Shape, std::vector<std::string>);
template std::vector<double> Eval::load(uint32_t) const;
template std::vector<int64_t> Eval::load(uint32_t) const;
template std::vector<uint64_t> Eval::load(uint32_t) const;
template std::vector<std::complex<double>> Eval::load(uint32_t) const;
template std::vector<std::string> Eval::load(uint32_t) const;
template double Eval::scalar(uint32_t, double) const;
template int64_t Eval::scalar(uint32_t, int64_t) const;
template uint64_t Eval::scalar(uint32_t, uint64_t) const;
template std::string Eval::scalar(uint32_t, std::string) const;
template void Eval::store(uint32_t, std::vector<double>);
template void Eval::store(uint32_t, std::vector<int64_t>);
template void Eval::store(uint32_t, std::vector<uint64_t>);
template void Eval::store(uint32_t, std::vector<std::complex<double>>);
template void Eval::store(uint32_t, std::vector<std::string>);
template void Eval::store(uint32_t, Shape, std::vector<double>);
template void Eval::store(uint32_t, Shape, std::vector<int64_t>);
template void Eval::store(uint32_t, Shape, std::vector<uint64_t>);
template void Eval::store(uint32_t, Shape, std::vector<std::complex<double>>);
template void Eval::store(uint32_t, Shape, std::vector<std::string>);

}  // namespace assay::ops
