#include "formats/pipeline_file.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::formats {
namespace {

std::string fault_of(std::string_view text) {
  const auto read = attempt([&] { return parse_pipeline(text); });
  const Error* error = std::get_if<Error>(&read);
  return error == nullptr ? "" : error->line();
}

TEST(PipelineFile, NamesStagesAndTheirFeeds) {
  const std::vector<PipelineStage> stages = parse_pipeline(
      "stages:\n"
      "  - {name: encoder, model: e.onnx}\n"
      "  - name: decoder\n"
      "    model: sub/d.onnx\n"
      "    inputs:\n"
      "      states: encoder.last.hidden\n");
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[1].model, "sub/d.onnx");
  ASSERT_EQ(stages[1].feeds.size(), 1U);
  EXPECT_EQ(stages[1].feeds[0].input, "states");
  EXPECT_EQ(stages[1].feeds[0].stage, "encoder");
  EXPECT_EQ(stages[1].feeds[0].output, "last.hidden");
}

TEST(PipelineFile, RefusesWhatIsWrongWithItsLine) {
  EXPECT_EQ(fault_of("stage: []"), "line 1: unknown key `stage`; did you mean `stages`?");
  EXPECT_EQ(fault_of("stages: []"), "a pipeline has a list `stages`");
  EXPECT_EQ(fault_of("stages:\n  - name: a\n"), "line 2: a stage has a `model`");
  EXPECT_EQ(fault_of("stages:\n  - {name: a, model: m}\n  - {name: a, model: n}\n"),
            "line 3: there are two stages `a`");
  EXPECT_EQ(fault_of("stages:\n  - {name: a, model: m, inputs: {x: b.y}}\n"),
            "line 2: no stage before this one is called `b`");
  EXPECT_EQ(fault_of("stages:\n  - {name: ab, model: m}\n  - {name: c, model: m, inputs: {x: aa.y}}\n"),
            "line 3: no stage before this one is called `aa`; did you mean `ab`?");
  EXPECT_NE(fault_of("stages:\n  - {name: ab, model: m}\n  - {name: c, model: m, inputs: {x: ab}}\n"), "");
}

}  // namespace
}  // namespace assay::formats
