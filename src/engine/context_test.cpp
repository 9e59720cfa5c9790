#include "engine/context.h"

#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

// Outputs that somebody holds stay as they are; memory that nobody holds any more is used again.
TEST(Context, OutputsStayWhileTheyAreHeld) {
  ir::Model model = testing_support::parsed(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,3] x) => (float[2,3] y) { y = Neg(x) }");
  const std::unique_ptr<Device> device = cpu::make_device({});
  const Program program(model, *device, {});
  Context context(program, {}, false);
  const auto run = [&](double number) {
    tensor::Datum output;
    context.run(testing_support::drawn_inputs(model, [&](size_t) { return number; }),
                testing_support::outputs_of(model), [&](ir::ValueId, const tensor::Datum& datum) { output = datum; });
    return output;
  };
  const tensor::Datum first = run(1);
  const std::byte* const memory = first.tensor().bytes().data();
  tensor::Datum second = run(2);
  EXPECT_EQ(tensor::load_elements<double>(first.tensor()), std::vector<double>(6, -1));
  EXPECT_EQ(tensor::load_elements<double>(second.tensor()), std::vector<double>(6, -2));
  EXPECT_NE(second.tensor().bytes().data(), memory);
  const std::byte* const next = second.tensor().bytes().data();
  second = tensor::Datum();
  EXPECT_EQ(run(3).tensor().bytes().data(), next);
}

}  // namespace
}  // namespace assay::engine
