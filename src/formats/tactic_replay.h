#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "results/tactics.h"

namespace assay::formats {

// The contents of a replay, also one of TensorRT. Error (parse) for other files.
results::RecordedTactics parse_recorded_tactics(std::string_view text);

// Tactics by layer: `conv.onednn:channels`.
using TacticReplay = std::map<std::string, std::string, std::less<>>;

// The peer's JSON, where an algorithm has an implementation and a tactic: ours are words, `conv.onednn` and `channels`.
// Error (parse) for other files, (unsupported) for the peer's numbers.
TacticReplay parse_tactic_replay(std::string_view text);
void save_tactic_replay(const TacticReplay& replay, const std::filesystem::path& path);

}  // namespace assay::formats
