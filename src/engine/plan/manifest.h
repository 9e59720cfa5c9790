#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "engine/device/fingerprint.h"
#include "engine/lowering/precision.h"
#include "engine/program/layer_record.h"
#include "engine/program/profile.h"
#include "exec/signature.h"

namespace assay::engine {

// An initializer of a model in a plan, and the number of its section of weights.
struct PlacedWeights {
  std::string name;
  uint64_t section = 0;
};

// The place of a value of the source model after lowering.
struct ValuePlace {
  std::string name;
  std::string now;    // name in the lowered model; empty: the value is computed inside a layer
  std::string layer;  // name of that layer, if it is known
};

// A lowered model, planned for one set of shapes.
struct PlannedModel {
  std::map<std::string, tensor::Shape> shapes;  // of the inputs whose shapes the source model leaves open
  std::vector<PlacedWeights> weights;
  std::vector<ValuePlace> values;
  std::vector<LayerRecord> layers;
  uint64_t memory_bytes = 0;  // that a run takes for values
};

// Weights as a kernel wants them.
struct PackedForm {
  uint64_t weights = 0;  // section
  std::string form;
  uint64_t section = 0;
};

// Code that was compiled for a device.
struct CompiledCode {
  std::string device;  // Fingerprint::device
  std::string name;
  std::string seal;  // CodeSeal; empty: the user had no key
  uint64_t section = 0;
};

// Description of a plan. Models are numbered as their sections: the source model first, then those that were planned.
struct Manifest {
  std::vector<Fingerprint> devices;  // that layers were planned for
  std::string source;                // the file of the source model; empty: there is none that holds it
  uint64_t source_checksum = 0;
  bool is_stripped = false;  // the weights are those of the source model, or of another one of its form
  bool is_strict = false;
  Precision precision;
  uint64_t most_workspace_bytes = UINT64_MAX;                                // that a kernel may want
  std::vector<std::string> families;                                         // implementations; empty: all
  std::vector<std::string> excluded;                                         // tactics
  std::map<std::string, std::vector<std::string>, std::less<>> excluded_of;  // excluded ones by layer_name
  exec::Signature signature;
  std::vector<Profile> profiles;  // one at least
  std::vector<PlacedWeights> source_weights;
  std::vector<PlannedModel> planned;
  std::vector<PackedForm> packed;
  std::vector<CompiledCode> code;
};

std::vector<std::byte> write_manifest(const Manifest& manifest);
// Error (parse) if it cannot be read, or was written by another version of the program.
Manifest read_manifest(Bytes bytes);

}  // namespace assay::engine
