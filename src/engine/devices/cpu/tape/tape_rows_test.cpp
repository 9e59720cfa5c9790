#include <gtest/gtest.h>

#include "engine/devices/cpu/tape/tape.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;
using testing_support::run_on_engine;
using testing_support::run_on_reference;
using testing_support::sine;

// Rows that lie in longer ones, by one step: of less than a vector, of some and a part, of whole ones, and of more than
// are worked on at a time.
TEST(TapeRows, one_step_on_parts_of_rows) {
  for (const int columns : {5, 16, 21, 85, 128, 700}) {
    for (const char* const op : {"Sigmoid(s)", "Neg(s)", "Sin(s)", "Cast<to = 10>(s)"}) {
      const char* const type = op[0] == 'C' ? "float16" : "float";
      const ir::Model model =
          parsed(fmt::format("<ir_version: 8, opset_import: [\"\" : 17]> g (float[70,900] x) => "
                             "({0}[70,{1}] y) <int64[1] a = {{1}}, int64[1] b = {{3}}, int64[1] e = "
                             "{{{2}}}> {{ s = Slice(x, b, e, a) y = {3} }}",
                             type, columns, columns + 3, op)
                     .c_str());
      const testing_support::EngineRun run = run_on_engine(model, sine);
      EXPECT_EQ(difference(run.outputs, run_on_reference(model, sine), op[0] == 'C' ? 1e-3 : 2e-6), "")
          << op << " of " << columns;
      EXPECT_EQ(run.tactics, std::vector<std::string>{"elementwise.tape"}) << op;
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
