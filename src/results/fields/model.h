#pragma once

#include "results/engine_listing.h"
#include "results/fields/findings.h"
#include "results/fields/memory.h"
#include "results/model_listing.h"
#include "results/sparsity.h"
#include "results/tactics.h"

namespace assay::results {

template <>
struct Fields<ValueInfo> {
  static void of(auto& v, auto& info) {
    v("name", info.name);
    v.or_null(!info.type.empty(), "dtype", info.type);
    v.known(info.ranked, "shape", info.shape);
    v.when(info.is_initializer, "initializer", info.is_initializer);
  }
};

template <>
struct Fields<WeightCount> {
  static void of(auto& v, auto& count) {
    v("tensors", count.tensors);
    v("elements", count.elements);
    v("bytes", count.bytes);
  }
};

template <>
struct Fields<QuantizationSummary> {
  static void of(auto& v, auto& summary) {
    v("quantize_nodes", summary.quantize_nodes);
    v("dequantize_nodes", summary.dequantize_nodes);
    v("quantized_op_nodes", summary.quantized_op_nodes);
    v("weight_types", summary.weight_types);
    v("per_tensor", summary.per_tensor);
    v("per_axis", summary.per_axis);
    v("blocked", summary.blocked);
  }
};

template <>
struct Fields<FunctionListing> {
  static void of(auto& v, auto& function) {
    v("domain", function.domain);
    v("name", function.name);
    v("overload", function.overload);
    v("inputs", function.inputs);
    v("outputs", function.outputs);
    v("attributes", function.attributes);
    v("opset_imports", function.opset_imports);
    v("node_count", function.node_count);
  }
};

template <>
struct Fields<Cost> {
  static void of(auto& v, auto& cost) {
    v.amount("macs", cost.macs);
    v.amount("bytes_moved", cost.bytes);
  }
};

// The listings of the graphs follow in the report.
template <>
struct Fields<CompiledPart> {
  static void of(auto& v, auto& part) {
    v("node", part.node);
    v("provider", part.provider);
    v("version", part.version);
    v("hardware", part.hardware);
    v("name", part.name);
    v("bytes", part.bytes);
    v("file", part.file);
    v("has_code", part.has_code);
  }
};

template <>
struct Fields<ModelOverview> {
  static constexpr std::string_view kCommand = "inspect model";
  static void of(auto& v, auto& overview) {
    v("model", overview.path);
    v("name", overview.name);
    v("ir_version", overview.ir_version);
    v("opset", overview.opset);
    v("opset_imports", overview.opset_imports);
    v("producer_name", overview.producer_name);
    v("producer_version", overview.producer_version);
    v("domain", overview.domain);
    v("model_version", overview.model_version);
    v("doc_string", overview.doc);
    v("metadata", overview.metadata);
    v("node_count", overview.node_count);
    v("total_node_count", overview.total_node_count);
    v("op_histogram", overview.op_histogram);
    v("parameter_count", overview.parameter_count);
    v("parameter_bytes", overview.parameter_bytes);
    v("external_bytes", overview.external_bytes);
    v.inlined("macs", overview.cost);
    v.some("memory", overview.memory);
    v.some("unbounded_dds", overview.unbounded_sizes);
    v("weights", overview.weights);
    v("constants", overview.constants);
    v.or_null(!overview.quantization.empty(), "quantization", overview.quantization);
    v.some("compiled", overview.compiled);
    v("functions", overview.functions);
    v("findings", overview.findings);
    v("findings_dropped", overview.findings_dropped);
  }
};

// Facts before the nodes of a graph; bodies and functions have a name before it.
template <>
struct Fields<GraphListing> {
  static void of(auto& v, auto& graph) {
    v("inputs", graph.inputs);
    v("outputs", graph.outputs);
    v("initializer_count", graph.initializer_count);
  }
};

// A weight whose elements follow.
template <>
struct Fields<InitializerInfo> {
  static void of(auto& v, auto& initializer) {
    v("tensor", initializer.info);
    v.some("external_location", initializer.external_location);
  }
};

// Tensors follow.
template <>
struct Fields<AttributeListing> {
  static void of(auto& v, auto& attribute) {
    v("name", attribute.name);
    v("type", attribute.type);
    v.some("reference", attribute.reference);
    v.typed("value", attribute.type, attribute.value);
  }
};

// The attributes follow.
template <>
struct Fields<NodeListing> {
  static void of(auto& v, auto& node) {
    v("index", node.index);
    v("name", node.name);
    v("op", node.op);
    v("domain", node.domain);
    v("inputs", node.inputs);
    v("outputs", node.outputs);
    v.inlined("macs", node.cost);
  }
};

template <>
struct Fields<TensorRange> {
  static void of(auto& v, auto& range) {
    v("min", range.least);
    v("max", range.greatest);
    v("mean", range.mean);
  }
};

template <>
struct Fields<EngineTensor> {
  static void of(auto& v, auto& tensor) {
    v("name", tensor.info.name);
    v("dtype", tensor.info.type);
    v.numbers(tensor.info.ranked, "shape", tensor.info.shape);
    v("format", tensor.format);
    v.inlined("min", tensor.range);
  }
};

template <>
struct Fields<EngineLayer> {
  static void of(auto& v, auto& layer) {
    v("name", layer.name);
    v("op", layer.op);
    v("tactic", layer.tactic);
    v("origins", layer.origins);
    v("inputs", layer.inputs);
    v("outputs", layer.outputs);
  }
};

template <>
struct Fields<EngineRange> {
  static void of(auto& v, auto& range) {
    v("input", range.input);
    v("is_values", range.is_values);
    v("is_any", range.is_any);
    v("min", range.least);
    v("opt", range.best);
    v("max", range.most);
  }
};

template <>
struct Fields<UnplannedNode> {
  static void of(auto& v, auto& node) {
    v("name", node.name);
    v("op", node.op);
  }
};

template <>
struct Fields<EngineProfile> {
  static void of(auto& v, auto& profile) {
    v("inputs", profile.inputs);
    v("is_planned", profile.is_planned);
    v("memory_bytes", profile.memory_bytes);
    v("layers", profile.layers);
    v("nodes_without_layer", profile.unplanned);
  }
};

inline constexpr std::string_view kEngineWords[] = {"engine", "network"};

template <>
struct Fields<EngineListing> {
  static constexpr std::string_view kCommand = "inspect model";
  static void of(auto& v, auto& listing) {
    v.word("kind", listing.is_network, kEngineWords);
    v("path", listing.path);
    v("name", listing.name);
    v("machine", listing.machine);
    v.some("capabilities", listing.capabilities);
    v("source", listing.source);
    v("is_strict", listing.is_strict);
    v("permissions", listing.permissions);
    v("inputs", listing.inputs);
    v("outputs", listing.outputs);
    v("memory_bytes", listing.memory_bytes);
    v("weight_bytes", listing.weight_bytes);
    v("packed_bytes", listing.packed_bytes);
    v("file_bytes", listing.file_bytes);
    v("profiles", listing.profiles);
    v("timings", listing.timings);
  }
};

template <>
struct Fields<WeightSparsity> {
  static void of(auto& v, auto& weight) {
    v("name", weight.name);
    v("dtype", weight.dtype);
    v("shape", weight.shape);
    v("axis", weight.axis);
    v("sparse", weight.sparse);
    v("zero_fraction", weight.zero_fraction);
    v("groups", weight.group_count);
    v("bad_groups", weight.bad_group_count);
    v.or_null(!weight.first_bad.empty(), "first_bad", weight.first_bad);
  }
};

template <>
struct Fields<SkippedWeight> {
  static void of(auto& v, auto& skipped) {
    v("name", skipped.name);
    v("reason", skipped.reason);
  }
};

template <>
struct Fields<SparsityReport> {
  static constexpr std::string_view kCommand = "inspect sparsity";
  static void of(auto& v, auto& report) {
    v("model", report.path);
    v("tensors", report.weights);
    v("skipped", report.skipped);
    v("findings", report.findings);
    v("timings", report.timings);
  }
};

template <>
struct Fields<RecordedTactic> {
  static void of(auto& v, auto& tactic) {
    v("implementation", tactic.implementation);
    v("tactic", tactic.tactic);
    v("inputs", tactic.inputs);
    v("outputs", tactic.outputs);
  }
};

template <>
struct Fields<TacticListing> {
  static constexpr std::string_view kCommand = "inspect tactics";
  static void of(auto& v, auto& listing) {
    v("path", listing.path);
    v.list("layers", listing.tactics, [](auto& item, auto& layer) {
      item("name", layer.first);
      Fields<RecordedTactic>::of(item, layer.second);
    });
    v.told("timings", kUntimed);
  }
};

template <>
struct Fields<TacticDiff> {
  static constexpr std::string_view kCommand = "inspect diff-tactics";
  static void of(auto& v, auto& diff) {
    v("good", diff.good);
    v("bad", diff.bad);
    v("skipped", diff.skipped);
    v.list("suspects", diff.suspects, [](auto& item, auto& suspect) {
      item("layer", suspect.first);
      item("tactics", suspect.second);
    });
    v.told("timings", kUntimed);
  }
};

}  // namespace assay::results
