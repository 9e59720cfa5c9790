#pragma once

#include <memory>

#include "backends/ranks/rank_models.h"
#include "exec/backend.h"

namespace assay::backends {

// The settings of ranks, besides those of the backend.
struct RankSettings {
  ShardWords words;
  std::vector<std::string> paths;    // models of the ranks behind the first
  std::vector<std::string> devices;  // one for each rank; empty: as the settings of the backend say
  double deadline_seconds = 0;       // of each collective
  bool uses_library = false;         // ops::Ranks::uses_library()
};

// A session of the whole model, which ranks run together, each with a session of the backend.
std::unique_ptr<exec::Session> make_ranked_session(const exec::Backend& backend, const ir::Model& model,
                                                   const RankSettings& ranks, const exec::SessionOptions& options,
                                                   Diagnostics& findings);

// A session whose executions are those of several sessions, in turns: copies that share no work.
std::unique_ptr<exec::Session> make_session_of_each(std::vector<std::unique_ptr<exec::Session>> sessions);

// The options of one rank: its device, and its share of the threads.
exec::SessionOptions options_of_rank(const exec::SessionOptions& all, const RankSettings& ranks, size_t rank);

}  // namespace assay::backends
