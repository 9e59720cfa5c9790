#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/model.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace assay::engine {

class Program;

// A value as a layer takes it or makes it.
struct LayerTensor {
  std::string name;
  tensor::DType dtype = tensor::DType::undefined;  // undefined: not known before a run
  tensor::Shape dims;
  std::string format;  // order in memory: `linear`, `channels last`; empty: not known
};

// The record of a step of a program.
struct LayerRecord {
  std::string name;  // layer_name(); empty: a copy to another format
  std::string op;    // `Conv+Relu`
  std::string tactic;
  std::string device;                // that computes it; empty: not known
  std::vector<std::string> origins;  // nodes of the source model, by their names or first results
  std::vector<LayerTensor> inputs;
  std::vector<LayerTensor> outputs;
};

// By layer_name.
using NodeOrigins = std::map<std::string, std::vector<std::string>, std::less<>>;

// The operators of a node of a lowered model, in order: `Conv+Relu`.
std::string layer_op(const ir::Model& model, ir::NodeId node);
// In the order of execution.
std::vector<LayerRecord> describe_layers(const Program& program, const NodeOrigins& origins);
// The layer for people: the nodes that it computes, as `conv1 + relu1`, or what it copies.
std::string title_of(const LayerRecord& layer);
// The tactic of each layer that has a name.
std::map<std::string, std::string, std::less<>> tactics_of(const std::vector<LayerRecord>& layers);

}  // namespace assay::engine
