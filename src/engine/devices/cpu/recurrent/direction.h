#pragma once

#include <vector>

#include "engine/devices/cpu/device.h"
#include "engine/layers/recurrence.h"

namespace assay::engine::cpu {

// Hidden elements with as many zeros as make them whole panels.
int64_t panel_width(const Recurrence& recurrence);
// The gates of one row.
inline int64_t panel_row(const Recurrence& recurrence) { return recurrence.gates * panel_width(recurrence); }

// Facts that all directions of a run share.
struct RecurrentRun {
  const Recurrence& r;
  const Arguments& arguments;
  std::vector<int64_t> lengths;  // by entry of the batch

  const float* input(int index) const { return host<const float>(arguments.inputs[static_cast<size_t>(index)]); }
  float* output(size_t index) const {
    return index < arguments.outputs.size() ? host<float>(arguments.outputs[index]) : nullptr;
  }
};

class CodedGates;

// The weights of one direction: of numbers in panels, or of codes.
struct DirectionWeights {
  const float* w = nullptr;
  const float* recurrence = nullptr;
  const CodedGates* coded_w = nullptr;
  const CodedGates* coded_recurrence = nullptr;
};

// Numbers that a direction keeps in its part of the workspace.
int64_t scratch_count(const Recurrence& recurrence);

// The steps of one direction.
void run_direction(const RecurrentRun& run, int64_t number, const DirectionWeights& weights);

}  // namespace assay::engine::cpu
