#pragma once

#include <map>
#include <vector>

#include "ops/inference.h"
#include "results/memory_needs.h"

namespace assay::analysis {

// The node of the main graph at which most memory is taken, and inside of it those of bodies, the innermost last.
using PeakPath = std::vector<ir::NodeId>;

// Values that nodes compute, from the one that computes them to the last one that reads them; outputs to the end.
// Results that only have other dims are the memory that they view. A body is run where its node is.
class Liveness {
 public:
  explicit Liveness(const ir::Model& model);

  // Returns the place where most is alive, by types with numbers alone; empty: nothing is computed.
  PeakPath peak(const ops::Inference& types) const;
  // Bytes that are alive at a place, and the largest of the values.
  results::MemoryPeak at(const ops::Inference& types, const PeakPath& path) const;
  // Bytes alone.
  ops::Dim bytes_at(const ops::Inference& types, const PeakPath& path) const;
  // Values whose sizes are not known, of all graphs.
  uint64_t unknown_values(const ops::Inference& types) const;

 private:
  struct Step {
    ir::NodeId node;
    std::vector<ir::ValueId> made;
    std::vector<ir::ValueId> freed;  // after it
  };
  using Schedule = std::vector<Step>;

  void schedule(ir::GraphId graph);
  ir::ValueId memory_of(ir::ValueId value) const;
  std::pair<int64_t, PeakPath> peak_of(const ops::Inference& types, ir::GraphId graph) const;
  std::vector<ir::ValueId> alive(const PeakPath& path) const;

  const ir::Model& model_;
  std::map<ir::GraphId, Schedule> schedules_;
};

}  // namespace assay::analysis
