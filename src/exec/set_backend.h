#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exec/backend.h"

namespace assay::exec {

// A backend with settings of its own, as it is written: `engine:cuda:fp16+strict` is the engine on a card with two
// flags that are on, `onnxrt@/envs/old` the one of that environment, `engine:tp:2` two ranks that split the weights.
struct BackendWords {
  std::string backend;
  std::vector<SettingChange> changes;
  std::string shard = {};   // `tp:2`: the ranks that run it together; empty: it runs by itself
  std::string python = {};  // the environment whose library it is: `onnxrt@/envs/old`; empty: that of the search

  // Error (usage) for a setting that the backend does not have.
  static BackendWords parse(std::string_view text);
};

// True if the text has more than a name.
bool has_words(std::string_view backend);

// A backend that lets ranks run each model together, each of them by `base`: `tp:2`, `cp:4`, `copies:2`, `ranks:2`. Its
// settings: `device` may list one for each rank; `rank-timeout`; `rank-models`; `rank-transport`. Defined in
// src/backends/ranks. Error (usage) for other words, (unsupported) for a backend that has no collectives.
BackendPtr make_ranked_backend(std::string_view shard, BackendPtr base);

// The backend of the words, whose settings take the place of those that it is given.
BackendPtr make_set_backend(BackendWords words);

}  // namespace assay::exec
