#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace assay::sweep {

// The part of a sweep that one process of several does.
struct Share {
  uint64_t index = 0;
  uint64_t count = 1;
  std::string source = {};  // the variables that said so; empty: the user
};

using Variables = std::function<const char*(const char* name)>;

// `I/N` from 0; `auto`: from the variables of Slurm's arrays, Kubernetes' indexed jobs (`auto/N`, as they do not say
// how many there are) and MPI; empty: from those of Slurm and MPI, where they are set. Error (usage) for anything else.
Share parse_share(std::string_view text, const Variables& variables);

}  // namespace assay::sweep
