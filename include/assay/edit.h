#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/tensor.h"

namespace assay {

struct SanitizeOptions {
  bool clean = false;                     // remove unused nodes and weights
  bool sort = false;                      // put nodes after those that they depend on
  bool fold_constants = false;            // compute what is the same in every run
  bool simplify = false;                  // also remove what does nothing, and merge what is there twice
  bool fuse = false;                      // merge operators within their rounding
  std::optional<int64_t> opset = {};      // write the model in this version of ai.onnx
  std::vector<std::string> passes = {};   // by name, run last
  std::vector<std::string> outputs = {};  // values in the place of the model's outputs
};

struct ExtractOptions {
  std::vector<std::string> inputs = {};   // of the part; none: those of the model
  std::vector<std::string> outputs = {};  // none: those of the model
};

struct InsertOptions {
  std::string op;
  std::string domain = {};
  std::string name = {};
  std::vector<std::string> inputs = {};   // the tensors that the node reads
  std::vector<std::string> outputs = {};  // the tensors that it gives instead of what gives them now
};

enum class Half { float16, bfloat16 };

struct HalfOptions {
  Half type = Half::float16;
  bool keep_interface = true;              // inputs and outputs of the model keep their types
  bool measure = false;                    // by a run: what 16 bits cannot hold stays float32
  std::vector<Values> inputs = {};         // of the run; none: made up
  std::vector<std::string> excluded = {};  // nodes that stay as they are; names may be wildcards
};

struct Int8Options {
  std::vector<Values> inputs = {};  // to calibrate with; none: made up
  bool asymmetric = false;          // activations as uint8 with a zero point
  bool per_channel = true;
  std::optional<double> least_snr_db = {};  // layers that would lose more by rounding stay float
  std::vector<std::string> excluded = {};
  std::string backend = {};  // that runs the model; empty: ONNX Runtime where it is there, else the reference
};

struct WeightOptions {
  int bits = 8;             // or 4
  uint64_t block_size = 0;  // numbers that share a scale; 0: whole output channels
  bool asymmetric = false;
  std::vector<std::string> excluded = {};
};

// Options for splitting the sequence of a model with attention over devices: K and V are gathered before each layer,
// inputs and outputs that have the sequence are scattered and gathered.
struct ShardOptions {
  int64_t devices = 0;               // that share the work; 0: all
  std::vector<int64_t> groups = {};  // of devices, one group after the other
  int64_t root = -1;                 // the device that collectives start from; -1: none
  bool fuse = false;                 // one Attention node replaces each layer, K and V stay split
  bool is_causal = false;            // of these nodes
  int64_t ranks = 1;                 // that collectives and these nodes are told
  std::string hints = {};            // a file of shard hints, which replaces all of the above
};

}  // namespace assay
