#include "engine/devices/cuda/tiles/group_product.h"

#include <fmt/format.h>

namespace assay::engine::cuda {

std::string group_product_text(tensor::DType dtype, int columns) {
  const std::string_view type = dtype == tensor::DType::float16 ? "f16" : "bf16";
  const int sums = columns / 2;
  std::string places, bound;
  for (int i = 0; i < sums; ++i) {
    places += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    bound += fmt::format("{}\"+f\"(sums[{}])", i == 0 ? "" : ", ", i);
  }
  return fmt::format(
      "DEVICE void multiply_group(Sum* sums, const T* left, const T* right) {{\n"
      "#ifdef ASSAY_HOST_MACHINE\n  multiply_group(sums, kColumns, left, right);\n#else\n"
      "  asm volatile(\"wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{1}.{1} {{{2}}}, %{3}, %{4}, 1, 1, 1, 0, 0;\"\n"
      "      : {5}\n      : \"l\"(operand_of(left)), \"l\"(operand_of(right)));\n#endif\n}}\n",
      columns, type, places, sums, sums + 1, bound);
}

}  // namespace assay::engine::cuda
