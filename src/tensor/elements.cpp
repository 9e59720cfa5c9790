#include "tensor/elements.h"

#include <algorithm>
#include <complex>
#include <string>
#include <type_traits>

#include "base/parallel.h"
#include "tensor/casts.h"

namespace assay::tensor {
namespace {

constexpr uint64_t kGrain = 1 << 16;  // elements a piece

template <typename C>
std::vector<C> load_numbers(const Tensor& tensor) {
  std::vector<C> elements(tensor.count());
  const Bytes bytes = tensor.bytes();
  parallel_for(elements.size(), kGrain, [&](uint64_t begin, uint64_t end) {
    load(tensor.dtype(), bytes, begin, std::span(elements).subspan(begin, end - begin));
  });
  return elements;
}

std::vector<std::complex<double>> load_complex_numbers(const Tensor& tensor) {
  std::vector<std::complex<double>> elements(tensor.count());
  if (kind(tensor.dtype()) == DTypeKind::complex) {
    load_complex(tensor.dtype(), tensor.bytes(), 0, elements);
  } else {
    std::ranges::copy(load_numbers<double>(tensor), elements.begin());
  }
  return elements;
}

}  // namespace

template <typename C>
std::vector<C> load_elements(const Tensor& tensor) {
  if constexpr (std::is_same_v<C, std::string>) {
    return {tensor.strings().begin(), tensor.strings().end()};
  } else if constexpr (std::is_same_v<C, std::complex<double>>) {
    return load_complex_numbers(tensor);
  } else {
    return load_numbers<C>(tensor);
  }
}

template std::vector<double> load_elements(const Tensor&);
template std::vector<int64_t> load_elements(const Tensor&);
template std::vector<uint64_t> load_elements(const Tensor&);
template std::vector<std::complex<double>> load_elements(const Tensor&);
template std::vector<std::string> load_elements(const Tensor&);

}  // namespace assay::tensor
