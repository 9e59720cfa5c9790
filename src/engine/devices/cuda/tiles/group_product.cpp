#include "engine/devices/cuda/tiles/group_product.h"

#include <fmt/format.h>

namespace assay::engine::cuda {
namespace {

struct Words {
  std::string_view depth;  // of 32 bytes
  std::string_view types;
  std::string_view factors;  // of the sums, and of floats: signs and orders of both operands
  char place;                // of a sum: f, a float; r, an integer
};

Words words_of(tensor::DType dtype) {
  if (dtype == tensor::DType::float16) return {"16", "f32.f16.f16", "1, 1, 1, 0, 0", 'f'};
  if (dtype == tensor::DType::bfloat16) return {"16", "f32.bf16.bf16", "1, 1, 1, 0, 0", 'f'};
  return {"32", dtype == tensor::DType::uint8 ? "s32.u8.s8" : "s32.s8.s8", "1", 'r'};
}

}  // namespace

std::string group_product_text(tensor::DType dtype, int columns) {
  const Words words = words_of(dtype);
  const int sums = columns / 2;
  std::string places, bound;
  for (int i = 0; i < sums; ++i) {
    places += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    bound += fmt::format("{}\"+{}\"(sums[{}])", i == 0 ? "" : ", ", words.place, i);
  }
  return fmt::format(
      "DEVICE void multiply_group(Sum* sums, const T* left, const T* right) {{\n"
      "#ifdef ASSAY_HOST_MACHINE\n  multiply_group(sums, kColumns, left, right);\n#else\n"
      "  asm volatile(\"wgmma.mma_async.sync.aligned.m64n{}k{}.{} {{{}}}, %{}, %{}, {};\"\n"
      "      : {}\n      : \"l\"(operand_of(left)), \"l\"(operand_of(right)));\n#endif\n}}\n",
      columns, words.depth, words.types, places, sums, sums + 1, words.factors, bound);
}

}  // namespace assay::engine::cuda
