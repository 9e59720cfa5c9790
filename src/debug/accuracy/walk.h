#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "debug/accuracy/side.h"
#include "results/culprit.h"

namespace assay::debug {

// A layer that is accused, with all that is needed to find out why.
struct Accused {
  results::LayerVerdict error;
  ir::NodeId node;
  size_t result = 0;                                    // number of the result
  std::vector<std::pair<ir::ValueId, Datum>> operands;  // operands as its side had them
  Datum given;
  Datum exact;  // on these operands
  Datum truth;  // on the true ones
  compare::Allowance allowance;
  double allowed(size_t element) const {
    return element < allowance.of_elements.size() ? static_cast<double>(allowance.of_elements[element]) : 0;
  }
  bool is_out_of_range = false;         // right, but on operands that make infinity or NaN of finite numbers
  bool is_type_at_fault = false;        // wrong only in exact numbers that are beyond the type
  bool is_kept_wide = false;            // so is what it shows, but its side has gone on with numbers in a wider type
  QuantizerFault quantizer_fault = {};  // of its model
};

struct WalkResult {
  std::vector<results::LayerVerdict> layers;
  std::vector<Accused> accused;  // in the order of the graph
  std::vector<results::AccuracySide> sides;
  std::vector<Accused> costly;  // layers of the last side that add most beside their results, without operands
  std::string unjudged;         // the first layer that is off and cannot be judged, with the reason; empty: none
};

struct WalkOptions {
  uint64_t max_memory_bytes = 0;
  uint64_t most_accused = 8;  // for which operands are kept; as many where only the type is at fault
  uint64_t most_costly = 0;
  std::function<void()> on_layer = {};  // after each
};

// Goes through the layers in the order of the graph, and separates for each side what a layer adds from what it
// inherits: it is computed exactly once more on what the side gave it. Values of a side are dropped after their last
// use. Layers whose results a side does not give are judged with the next ones.
WalkResult walk(const ir::Model& model, const std::vector<ops::InputDatum>& inputs, std::vector<SideValues> sides,
                const WalkOptions& options);

}  // namespace assay::debug
