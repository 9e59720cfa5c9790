#pragma once

#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "results/culprit.h"

namespace assay::cli {

// The words by which `convert` makes a model in another precision; `float16`, `bfloat16` or `int8`.
std::string convert_words(const std::string& model, const std::string& precision,
                          const std::vector<std::string>& excluded, const std::vector<std::string>& more = {});

// The words by which `convert` applies a remedy that edits a model with 16-bit floats.
std::string mend_words(const std::string& model, const results::Remedy& remedy);

// The words about inputs that the user gave, for a conversion that runs the model.
std::vector<std::string> input_words(const Arguments& arguments);

}  // namespace assay::cli
