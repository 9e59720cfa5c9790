#include "cli/options/remedies.h"

#include <gtest/gtest.h>

namespace assay::cli {
namespace {

class Remedies : public testing::Test {
 protected:
  const Command command_ = {
      .path = "sample",
      .groups = {
          {.title = "Sample", .rows = {{.names = {"--model-inputs", "--input-shapes"}}, {.names = {"--max-steps"}}}}}};
  const Arguments arguments_{command_};
};

TEST_F(Remedies, SettingsBecomeTheOptionsOfTheCommand) {
  EXPECT_EQ(option_of("max_steps", arguments_), "--max-steps");
  EXPECT_EQ(option_of("input_shapes", arguments_), "--model-inputs");
  EXPECT_EQ(remedy_text("max_steps", arguments_), " (--max-steps)");
  EXPECT_EQ(remedy_text("input_shapes", arguments_), " (--model-inputs sets another)");
}

TEST_F(Remedies, WhatTheCommandHasNoOptionForIsNotSaid) {
  EXPECT_EQ(remedy_text("", arguments_), "");
  EXPECT_EQ(remedy_text("max_memory", arguments_), "");
  EXPECT_EQ(remedy_text("ignore_external_data", arguments_), "");
}

TEST_F(Remedies, AnotherCommandMayHelp) {
  EXPECT_EQ(remedy_text("opset", arguments_), " (`surgeon sanitize --opset` writes an older one)");
}

TEST_F(Remedies, LinesNameWhatIsAtFaultAndWhatHelps) {
  Error error(ErrorCode::limit, "it did not end");
  error.add_frame("node `n`");
  EXPECT_EQ(line_of(error, arguments_), "node `n`: it did not end");
  EXPECT_EQ(line_of(error.about("input_shapes").remedied_by("max_steps"), arguments_),
            "--model-inputs: node `n`: it did not end (--max-steps)");
}

}  // namespace
}  // namespace assay::cli
