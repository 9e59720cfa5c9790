#pragma once

#include <string>
#include <vector>

#include "tensor/datum.h"

namespace assay::tensor {

struct NamedDatum {
  std::string name;
  Datum value;
};

// The inputs or the outputs of one iteration, in order; no name twice.
using NamedData = std::vector<NamedDatum>;

}  // namespace assay::tensor
