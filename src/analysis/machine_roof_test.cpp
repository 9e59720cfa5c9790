#include "analysis/machine_roof.h"

#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

// Only the order of magnitude: others may use the machine, and sanitizers slow it down.
TEST(MachineRoof, IsThatOfAProcessor) {
  const results::MachineRoof roof = measure_roof();
  EXPECT_GE(roof.threads, 1);
  EXPECT_GT(roof.flops_per_second / roof.threads, 1e6);
  EXPECT_LT(roof.flops_per_second / roof.threads, 1e12);
  EXPECT_GT(roof.bytes_per_second, 1e6);
  EXPECT_LT(roof.bytes_per_second, 4e12);
}

}  // namespace
}  // namespace assay::analysis
