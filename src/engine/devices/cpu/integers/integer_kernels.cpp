#include "engine/devices/cpu/integers/integer_kernels.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/devices/cpu/integers/integer_math.h"
#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

constexpr size_t kBlock = 64;
constexpr std::array kIntegerOps = {ElementOp::add,
                                    ElementOp::subtract,
                                    ElementOp::multiply,
                                    ElementOp::divide,
                                    ElementOp::remainder,
                                    ElementOp::modulo,
                                    ElementOp::maximum,
                                    ElementOp::minimum,
                                    ElementOp::bits_and,
                                    ElementOp::bits_or,
                                    ElementOp::bits_xor,
                                    ElementOp::shift_left,
                                    ElementOp::negate,
                                    ElementOp::abs,
                                    ElementOp::sign,
                                    ElementOp::bits_not,
                                    ElementOp::clip,
                                    ElementOp::shift_right,
                                    ElementOp::less,
                                    ElementOp::greater,
                                    ElementOp::equal,
                                    ElementOp::less_or_equal,
                                    ElementOp::greater_or_equal};

// Calls fn with a zero of the type, where it is one that loops are made for.
template <typename Fn>
ElementLoop with_integer(tensor::DType type, Fn fn) {
  switch (type) {
    case tensor::DType::int8:
      return fn(int8_t{});
    case tensor::DType::uint8:
      return fn(uint8_t{});
    case tensor::DType::int16:
      return fn(int16_t{});
    case tensor::DType::uint16:
      return fn(uint16_t{});
    case tensor::DType::int32:
      return fn(int32_t{});
    case tensor::DType::uint32:
      return fn(uint32_t{});
    case tensor::DType::int64:
      return fn(int64_t{});
    case tensor::DType::uint64:
      return fn(uint64_t{});
    default:
      return nullptr;
  }
}

template <typename Fn>
ElementLoop with_number(tensor::DType type, Fn fn) {
  switch (type) {
    case tensor::DType::boolean:
      return fn(bool{});
    case tensor::DType::float32:
      return fn(float{});
    case tensor::DType::float64:
      return fn(double{});
    default:
      return with_integer(type, fn);
  }
}

#define ASSAY_BODY "engine/devices/cpu/integers/integer_kernels_body.h"
#include "engine/devices/cpu/instruction_sets_body.h"

}  // namespace

std::span<const IntegerKernels* const> all_integer_kernels() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const IntegerKernels& integer_kernels() { return *all_integer_kernels().front(); }

}  // namespace assay::engine::cpu
