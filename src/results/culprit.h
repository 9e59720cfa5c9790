#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::results {

// The error that one side adds at one value, the result of a layer.
struct LayerVerdict {
  uint64_t index = 0;  // of the layer in the order of the graph
  std::string node;
  std::string op;
  std::string value;
  std::string side;
  double introduced = 0;      // greatest difference from the layer computed exactly on what this side gave it
  double inherited = 0;       // greatest difference of that from the truth
  double total = 0;           // greatest difference of the side's value from the truth
  double tolerance = 0;       // allowed there for what is introduced
  double excess = 0;          // the introduced error over what may be, at its worst; above 1: accused
  double magnitude = 0;       // of the true value: root of the mean square
  uint64_t failed_count = 0;  // elements beyond what may be
  uint64_t count = 0;
  std::vector<std::string> group;  // layers before it whose results this side does not give: they are judged with it
};

// A layer in the body or function of one that is accused.
struct InnerCulprit {
  LayerVerdict error;
  std::string cause;
  std::string reason;
};

// A layer that is accused.
struct Culprit {
  LayerVerdict error;
  std::string cause;        // `overflow`, `constant`, `semantics`, ...; `unknown` if nothing explains the numbers
  std::string reason;       // one sentence
  bool is_in_both = false;  // of two models on one backend: it deviates about as far in the other one
  // The error of the model's output if only this layer is wrong; nothing: it is not known.
  std::optional<double> share_of_output;
  std::optional<InnerCulprit> inner;  // the first that is accused
};

// Something that was tried to make the result right.
struct Remedy {
  std::string text;
  std::vector<std::pair<std::string, std::string>> settings;  // of the backend, that apply it; the empty value: a flag
  std::vector<std::string> left_out;                          // settings that it goes without
  std::string precision = {};  // `float16`, ...: the model is converted anew; empty: it is run in another way
  std::vector<std::string> excluded = {};  // layers that are not converted
  std::string calibration = {};            // of int8
  bool measures_ranges = false;            // values that do not fit are not converted
  bool clamps = false;                     // constants that do not fit become the nearest numbers that do
  std::vector<std::string> widened = {};   // layers of a 16-bit model that compute in float32
  std::vector<std::string> clipped = {};   // Casts before which a Clip is put
  double error_before = 0;
  double error_after = 0;
  bool cures = false;
  bool helps = false;

  // `magnitude`: of the outputs, beside which the error is judged where it was infinite.
  void set_errors(double before, double after, double magnitude) {
    error_before = before;
    error_after = after;
    cures = after < 0.1 * (std::isfinite(before) ? before : magnitude);
    helps = after < 0.5 * before;
  }
};

// Values of another model that correspond to those of the model.
struct LayerMatches {
  uint64_t by_name = 0;
  uint64_t by_structure = 0;
  std::vector<std::string> unmatched;  // values of the model that the other one does not have
};

struct AccuracySide {
  std::string name;
  std::string backend;                   // that ran it; empty: saved results
  double output_error = 0;               // greatest, of the model's outputs from the truth
  double output_magnitude = 0;           // of the truth there
  uint64_t given_count = 0;              // values that it gave
  std::optional<double> probe_effect;    // distance that the outputs move when nothing else is asked for
  std::optional<bool> is_deterministic;  // true: a second run gave the same bits
};

// The cost of the quantizers of one layer.
struct LayerCost {
  std::string node;
  std::string op;
  double introduced = 0;               // the greatest, beside the root of the mean square of the result
  std::optional<double> output_error;  // of the outputs if only this layer is so; nothing: it is not known
};

// The report of `debug accuracy`.
struct AccuracyHunt {
  std::string model;
  std::vector<AccuracySide> sides;
  std::vector<LayerVerdict> layers;
  // In the order of the graph, but first what only the second of two models has, and last what both have.
  std::vector<Culprit> culprits;
  std::vector<Culprit> harmless;  // layers that overflow without moving the outputs
  std::vector<Remedy> remedies;
  bool is_quantized = false;     // the second model has quantizers that the first has not
  std::vector<LayerCost> costs;  // of its layers, the one that costs the outputs most first
  uint64_t layer_count = 0;
  std::optional<LayerMatches> matches;
  std::string doubt;  // reason why nothing can be said; empty: something can
  std::vector<std::pair<std::string, double>> timings;
};

}  // namespace assay::results
