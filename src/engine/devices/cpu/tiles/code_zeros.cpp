#include "engine/devices/cpu/tiles/code_zeros.h"

#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/tiles/code_product.h"
#include "engine/layers/quantization.h"

namespace assay::engine::cpu {
namespace {

constexpr size_t kWholeColumns = 64;

void set_starts(const std::vector<int32_t>& sums, int32_t zero, std::vector<int32_t>& starts) {
  starts.resize(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    starts[i] = static_cast<int32_t>(-static_cast<uint32_t>(zero) * static_cast<uint32_t>(sums[i]));
  }
}

}  // namespace

int32_t code_of(const Arguments& arguments, int input, bool is_signed) {
  const uint8_t byte = *host<const uint8_t>(arguments.inputs[static_cast<size_t>(input)]);
  return is_signed ? static_cast<int8_t>(byte) : byte;
}

CodeZeros::CodeZeros(const Given& given)
    : are_signed_(given.data_type == tensor::DType::int8), zero_(given.zero), input_(given.input) {
  const std::vector<int64_t> sums = sums_of_channels(*given.weights, given.axis);
  sums_.resize(sums.size() + kWholeColumns);
  for (size_t i = 0; i < sums.size(); ++i) sums_[i] = static_cast<int32_t>(sums[i]);
  if (input_ < 0) set_starts(sums_, zero_ + CodeProduct::offset(are_signed_), starts_);
  if (given.zeros->empty()) return;
  row_factors_.resize(sums_.size());
  for (size_t i = 0; i < sums.size(); ++i) row_factors_[i] = -(*given.zeros)[i];
}

int32_t CodeZeros::of_data(const Arguments& arguments) const {
  return input_ < 0 ? zero_ : code_of(arguments, input_, are_signed_);
}

const int32_t* CodeZeros::starts(int32_t zero, std::vector<int32_t>& made) const {
  if (input_ < 0) return starts_.data();
  set_starts(sums_, zero + CodeProduct::offset(are_signed_), made);
  return made.data();
}

const int32_t* CodeZeros::plain_starts(int32_t zero, std::vector<int32_t>& made) const {
  if (input_ < 0 && CodeProduct::offset(are_signed_) == 0) return starts_.data();
  set_starts(sums_, zero, made);
  return made.data();
}

}  // namespace assay::engine::cpu
