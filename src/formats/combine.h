#pragma once

#include <string>
#include <vector>

#include "formats/saved_data.h"

namespace assay::formats {

// One of several files that become one.
struct DataPart {
  std::string path;  // for messages
  SavedData data;
};

// The result, and findings about it.
struct MergedData {
  SavedInputs inputs;
  std::vector<std::string> warnings;
};
struct JoinedData {
  SavedData data;
  std::vector<std::string> warnings;
};

// Puts the arrays of all parts together, iteration by iteration; of results, those of every runner. A later array
// replaces an earlier one of the same name.
MergedData merge_data(const std::vector<DataPart>& parts);
// Puts the iterations of all parts in a row; those of results runner by runner. Error (usage) for inputs and outputs
// together.
JoinedData concat_data(const std::vector<DataPart>& parts);

}  // namespace assay::formats
