#pragma once

#include "results/fields/findings.h"
#include "results/fields/model.h"
#include "results/tensorflow_listing.h"

namespace assay::results {

template <>
struct Fields<TensorFlowNode> {
  static void of(auto& v, auto& node) {
    v("name", node.name);
    v("op", node.op);
    v("inputs", node.inputs);
    v("outputs", node.outputs);
  }
};

template <>
struct Fields<TensorFlowGraph> {
  static void of(auto& v, auto& graph) {
    v("name", graph.name);
    v("inputs", graph.inputs);
    v("outputs", graph.outputs);
    v("node_count", graph.node_count);
    v.detail("nodes", graph.nodes);
  }
};

template <>
struct Fields<TensorFlowSignature> {
  static void of(auto& v, auto& signature) {
    v("name", signature.name);
    v("tags", signature.tags);
    v("inputs", signature.inputs);
    v("outputs", signature.outputs);
  }
};

template <>
struct Fields<TensorFlowListing> {
  static constexpr std::string_view kCommand = "inspect model";
  static void of(auto& v, auto& listing) {
    v("kind", listing.kind);
    v("path", listing.path);
    v("version", listing.version);
    v("description", listing.description);
    v("signatures", listing.signatures);
    v("graphs", listing.graphs);
    v("functions", listing.functions);
    v("variables", listing.variables);
    v("op_histogram", listing.op_histogram);
    v("constant_count", listing.constant_count);
    v("constant_bytes", listing.constant_bytes);
    v("variable_bytes", listing.variable_bytes);
    v("quantized_tensors", listing.quantized_tensors);
    v("quantized_by_axis", listing.quantized_by_axis);
    v("findings", listing.findings);
    v("timings", listing.timings);
  }
};

}  // namespace assay::results
