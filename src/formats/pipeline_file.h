#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::formats {

// An input of a stage, and the output of an earlier stage that it is fed from.
struct StageFeed {
  std::string input;
  std::string stage;
  std::string output;
};

// A model in a pipeline.
struct PipelineStage {
  std::string name;
  std::string model;  // path, from the folder of the file
  std::vector<StageFeed> feeds;
  size_t line = 0;  // of the file, from 1
};

// Reads a pipeline: YAML with a list `stages`, each with `name`, `model` and `inputs` as `INPUT: STAGE.OUTPUT`. Error
// (parse) with the line for unknown keys, for names that stand twice, and for feeds from stages that are not before.
std::vector<PipelineStage> parse_pipeline(std::string_view text);

}  // namespace assay::formats
