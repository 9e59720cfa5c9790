#include "engine/devices/cpu/integers/code_table.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace assay::engine::cpu {
namespace {

TEST(CodeTable, KernelsTakeAnyCount) {
  alignas(64) std::array<std::byte, 256> table;
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::byte>(i * 91 + 17);
  for (const TableKernels* const kernels : all_table_kernels()) {
    for (const size_t count : {0, 1, 63, 64, 65, 256, 700}) {
      std::vector<std::byte> codes(count + 2, std::byte{7}), expected = codes;
      for (size_t i = 0; i < count; ++i) codes[i + 1] = static_cast<std::byte>(i * 37);
      for (size_t i = 0; i < count; ++i) expected[i + 1] = table[i * 37 % 256];
      kernels->map(table.data(), codes.data() + 1, codes.data() + 1, count);
      EXPECT_EQ(codes, expected) << kernels->name << " " << count;
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
