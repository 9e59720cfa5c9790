#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "tensor/tensor.h"

namespace assay::tensor {

// The one place that knows how elements are encoded. Elements [first, first + out.size()) of packed `bytes` are
// converted to the carrier: exact for every float of at most 64 bits to double, and for integers to int64 / uint64.
// double also takes integers and booleans (rounded to nearest even). Precondition: the range lies within the bytes.
// Error (unsupported) for strings, complex numbers, and floats into an integer carrier.
void load(DType dtype, Bytes bytes, uint64_t first, std::span<double> out);
void load(DType dtype, Bytes bytes, uint64_t first, std::span<int64_t> out);
void load(DType dtype, Bytes bytes, uint64_t first, std::span<uint64_t> out);

// Rounds once, to nearest even, and packs at element `first` of `bytes`. Numbers beyond the range, and infinity, become
// infinity, or the largest finite value where the type has no infinity (float8e4m3fn, e4m3fnuz, e5m2fnuz, float6,
// float4). NaN becomes the largest value where the type has no NaN. float8e8m0 follows encode_e8m0. Integers wrap; a
// double is truncated first, and one that int64 cannot hold counts as its smallest value. Other elements that share a
// byte with the range keep their bits; two threads must not store into one byte.
void store(DType dtype, std::span<const double> values, uint64_t first, std::span<std::byte> bytes);
void store(DType dtype, std::span<const int64_t> values, uint64_t first, std::span<std::byte> bytes);
void store(DType dtype, std::span<const uint64_t> values, uint64_t first, std::span<std::byte> bytes);

// Loads complex64 and complex128.
void load_complex(DType dtype, Bytes bytes, uint64_t first, std::span<std::complex<double>> out);
void store_complex(DType dtype, std::span<const std::complex<double>> values, uint64_t first,
                   std::span<std::byte> bytes);

}  // namespace assay::tensor
