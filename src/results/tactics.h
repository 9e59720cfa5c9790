#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::results {

// The way in which a layer was computed, as a replay records it: of the engine, or of TensorRT.
struct RecordedTactic {
  std::string implementation;
  std::string tactic;
  std::vector<std::string> inputs;  // `TensorInfo(DataType.FLOAT, (1,), -1, 1)`
  std::vector<std::string> outputs;
  auto operator<=>(const RecordedTactic&) const = default;
};

// By layer, in the order of the file.
using RecordedTactics = std::vector<std::pair<std::string, RecordedTactic>>;

// The contents of a replay.
struct TacticListing {
  std::string path;
  RecordedTactics tactics;
};

// Tactics that only replays of bad engines have.
struct TacticDiff {
  std::vector<std::string> good;  // files
  std::vector<std::string> bad;
  std::vector<std::string> skipped;                                           // that are no replays
  std::vector<std::pair<std::string, std::vector<RecordedTactic>>> suspects;  // by layer
};

}  // namespace assay::results
