#pragma once

#include <string>
#include <vector>

#include "formats/change.h"
#include "tasks/observer.h"

namespace assay::tasks {

// Files of tensors that become one.
struct DataRequest {
  std::vector<std::string> paths;
  formats::DataChanges changes;  // of each of them
  std::string output;            // the file; empty: the data is only returned
};
// The first one, in the form that the name of the output implies.
formats::SavedData convert_data(const DataRequest& request, Observer& observer);
// The arrays of all, iteration by iteration, as inputs.
formats::SavedData merge_data(const DataRequest& request, Observer& observer);
// The iterations of all in a row.
formats::SavedData concat_data(const DataRequest& request, Observer& observer);

void save_data(const formats::SavedData& data, const std::string& path, Observer& observer);
// True if the file or folder holds tensors, as far as its first bytes tell.
bool is_data(const std::string& path);
// The tensor of a file that holds one. Error (usage) where it holds more or less.
tensor::Tensor load_tensor(const std::string& path);

}  // namespace assay::tasks
