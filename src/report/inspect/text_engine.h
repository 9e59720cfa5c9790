#pragma once

#include <string>

#include "results/engine_listing.h"

namespace assay::report {

struct TextEngineOptions {
  bool layers = false;
  bool attributes = false;   // with layers: where they come from, their tactics
  bool is_as_there = false;  // the peer's lines only
};

// In the layout that users of the peer know.
std::string engine_text(const results::EngineListing& listing, const TextEngineOptions& options);

}  // namespace assay::report
