#pragma once

#include <functional>
#include <string>

#include "results/tensorflow_listing.h"

namespace assay::report {

// The parts of a listing that are shown besides the summary.
struct TensorFlowOptions {
  bool layers = false;
  bool weights = false;  // names of variables
  // True for nodes that are listed.
  std::function<bool(const results::TensorFlowNode&)> is_listed = {};
};

std::string tensorflow_text(const results::TensorFlowListing& listing, const TensorFlowOptions& options);
std::string tensorflow_json(const results::TensorFlowListing& listing, const TensorFlowOptions& options);

}  // namespace assay::report
