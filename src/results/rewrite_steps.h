#pragma once

#include <string>
#include <vector>

namespace assay::results {

// One step of a rewrite; nodes by their names, those without one by that of their first result.
struct StepListing {
  std::string explanation;           // `step 3: fuse BatchNormalization `bn1` into Conv `conv1``
  std::vector<std::string> removed;  // nodes that are there before it only
  std::vector<std::string> added;    // after it only
  std::string changed;               // a node that stays; empty: none
};

}  // namespace assay::results
