#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/observer.h"
#include "assay/run.h"
#include "assay/tensor.h"

namespace assay {

// Outputs of one runner, or inputs, by iteration. Values that are no tensors are left out.
struct SavedRun {
  std::string runner;  // empty: inputs
  std::vector<Values> iterations;
};

// The contents of a file of saved tensors: one run of inputs, or outputs of runners.
struct SavedData {
  bool is_inputs = true;
  std::vector<SavedRun> runs;
};

// JSON of Polygraphy, .npz, .npy, .safetensors, a folder of one JSON file per iteration, or a folder of raw arrays.
SavedData load_data(const std::string& path);
// In the form that the path implies. Error (usage) where that form cannot hold the data.
void save_data(const SavedData& data, const std::string& path, Observer* observer = nullptr);

// Changes to all arrays of a file, in this order. Names may be wildcards, except in `renamed`.
struct DataChanges {
  std::string runner = {};                                        // keep the outputs of these runners; empty: of all
  std::vector<std::string> selected = {};                         // keep these arrays; none: all
  std::vector<std::string> dropped = {};                          // remove these arrays
  std::vector<std::pair<std::string, std::string>> renamed = {};  // from, to
  std::vector<std::pair<std::string, std::string>> casts = {};    // arrays, and their new element type
};

// Changes saved data and writes it in the form that `to` implies.
void convert_data(const std::string& from, const std::string& to, const DataChanges& changes = {},
                  Observer* observer = nullptr);

// The runs of two files, in order; the second file is the reference.
struct DataComparison {
  Verdict verdict = Verdict::undecided;  // different too where the files hold different numbers of runs
  std::vector<Comparison> comparisons;
};
DataComparison compare_data(const std::string& path_a, const std::string& path_b, const Tolerance& tolerance = {});

}  // namespace assay
