#pragma once

#include "cli/environment.h"

namespace assay::cli {

// True if the program was called by the peer's name: then it prints and answers what scripts for that program wait for.
inline bool is_called_as_peer(const Environment& environment) { return environment.program == "polygraphy"; }

}  // namespace assay::cli
