#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace assay::tensorflow {

// An attribute of a node. Types are ONNX's numbers; a function or a subgraph is its name.
using SourceAttribute = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                                     std::vector<std::string>, tensor::Tensor>;

// Codes stand for `scale * (code - zero_point)`, with one scale, or one for each index of an axis.
struct Quantization {
  std::vector<float> scales;
  std::vector<int64_t> zero_points;  // empty: all are 0
  int64_t axis = 0;

  bool is_given() const { return !scales.empty(); }
};

// Facts that a file declares of a value.
struct SourceValue {
  tensor::DType dtype = tensor::DType::undefined;
  std::optional<std::vector<int64_t>> dims;  // empty: not even the rank; -1: not known
  Quantization quantization;
};

// A call of an operator or a function. Values have names as TensorFlow gives them: `node:0`; in TFLite those of
// tensors.
struct SourceNode {
  std::string name;
  std::string op;
  std::vector<std::string> inputs;   // an empty one is left out
  std::vector<std::string> before;   // nodes that must have run, by name
  std::vector<std::string> outputs;  // empty: `name:0`, `name:1`, as many as the operator has
  std::map<std::string, SourceAttribute, std::less<>> attributes;

  // The name of an output.
  std::string output(size_t index) const;
};

// A name by which users know an input or an output, and the value that it is.
struct SourcePort {
  std::string name;
  std::string value;
};

// A graph, a function, or a subgraph of TFLite.
struct SourceGraph {
  std::string name;
  std::vector<SourcePort> inputs;
  std::vector<SourcePort> outputs;
  std::map<std::string, SourceValue, std::less<>> values;
  std::map<std::string, tensor::Tensor, std::less<>> constants;
  std::vector<SourceNode> nodes;

  // The node that gives a value; empty: none does.
  std::optional<size_t> producer(std::string_view value) const;
  // After the nodes are there, and whenever they change. Error (parse): two give one value.
  void index_producers();

 private:
  std::map<std::string, size_t, std::less<>> producers_;
};

// A model of TensorFlow as it stands in its files, before any operator is understood.
struct SourceModel {
  bool is_lite = false;
  SourceGraph main;
  std::map<std::string, SourceGraph, std::less<>> functions;     // by name; subgraphs of TFLite by number
  std::map<std::string, tensor::Tensor, std::less<>> variables;  // by the node that stands for the variable
  std::string producer;                                          // `TensorFlow 2.21.0`
};

}  // namespace assay::tensorflow
