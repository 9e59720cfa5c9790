#pragma once

#include <string>
#include <vector>

#include "formats/saved_data.h"
#include "inspect/data/slice.h"
#include "results/data_listing.h"
#include "tensor/array_text.h"

namespace assay::inspect {

// A slice of the tensors whose name matches a wildcard, and how it was written.
struct TensorSlice {
  std::string pattern;
  std::string text;
  Slice slice;
};

struct DataOptions {
  bool all_iterations = false;  // otherwise the first of each run
  bool values = false;
  bool histogram = false;
  tensor::ArrayTextOptions text;
  std::vector<std::string> tensors;  // wildcards; none: all
  std::vector<std::string> runners;  // wildcards; none: all
  std::vector<TensorSlice> slices;   // the last match wins
  std::vector<double> percentiles;   // 0 to 100
};

// Describes saved data. Error (usage) if a wildcard matches nothing.
results::DataListing list_data(const formats::SavedData& data, const DataOptions& options);

}  // namespace assay::inspect
