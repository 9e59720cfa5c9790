// Arbitrary bytes, imported as a model or, where they begin with `<`, parsed as one. Each operation of surgery and
// quantisation works on a copy of it, on values and nodes drawn from it: only Error may come out, and what it leaves is
// sound, can be written, and loads again.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "analysis/unbounded_sizes.h"
#include "base/error.h"
#include "convert/quantize/insert_qdq.h"
#include "convert/quantize/shadow_layers.h"
#include "convert/quantize/weight_only.h"
#include "formats/plugin_config.h"
#include "ir/verify.h"
#include "match/find.h"
#include "onnx/export.h"
#include "ops/inference.h"
#include "ops/write_types.h"
#include "passes/pipelines.h"
#include "support/fuzzing.h"
#include "surgery/bound_sizes.h"
#include "surgery/extract.h"
#include "surgery/insert.h"
#include "surgery/override_shapes.h"
#include "surgery/plugin/pattern_file.h"
#include "surgery/plugin/replace.h"
#include "surgery/prune.h"
#include "surgery/reconstruct.h"
#include "surgery/shard/shard.h"
#include "surgery/shard/tensor_parallel.h"
#include "surgery/sparsity/sparsity.h"
#include "surgery/strip.h"

namespace {

using namespace assay;
using namespace testing_support;
using tensor::DType;

void infer(ir::Model& model) {
  ops::Inference inference(model);
  inference.run();
  ops::write_types(inference, model);
}

void sort(ir::Model& model) {
  static constexpr std::string_view kSort[] = {"sort"};
  ir::Rewriter rewriter(model);
  const passes::Options options;
  passes::Pipeline(model, rewriter, options).run(kSort);
}

// What operations work on, drawn from a model.
class Draw {
 public:
  Draw(ir::Model& drawn_from, uint32_t seed) : model(drawn_from), random_(seed) {
    for (uint32_t i = 0; i < model.value_slots(); ++i) {
      const ir::Value& value = model[ir::ValueId{i}];
      if (!value.alive || value.name == ir::kEmpty) continue;
      (value.graph == model.main_graph() ? values_ : inner_).push_back(ir::ValueId{i});
    }
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) nodes_.push_back(node);
  }

  size_t below(size_t bound) { return random_() % bound; }
  bool chance(size_t of_8) { return below(8) < of_8; }
  ir::ValueId value() { return values_.empty() ? ir::ValueId() : values_[below(values_.size())]; }
  ir::NodeId node() { return nodes_.empty() ? ir::NodeId() : nodes_[below(nodes_.size())]; }
  std::string text(ir::Symbol symbol) const { return std::string(model.text(symbol)); }
  std::string name() {
    const ir::ValueId drawn = !inner_.empty() && below(32) == 0 ? inner_[below(inner_.size())] : value();
    return drawn && below(64) > 0 ? text(model[drawn].name) : "unknown";
  }
  std::vector<std::string> names(size_t most) {
    std::vector<std::string> result;
    for (size_t i = below(most) + 1; i > 0; --i) result.push_back(name());
    return result;
  }
  DType dtype() {
    static constexpr DType kTypes[] = {DType::float32, DType::float16, DType::int64, DType::boolean, DType::string};
    return kTypes[below(std::size(kTypes))];
  }
  surgery::Boundary boundary(bool has_shape) {
    surgery::Boundary result;
    result.name = name();
    if (chance(2)) result.dtype = dtype();
    if (!has_shape) return result;
    result.shape.emplace();
    for (size_t rank = below(5); rank > 0; --rank) {
      const int64_t number = chance(1) ? int64_t{1} << 40 : static_cast<int64_t>(below(9));
      result.shape->push_back(chance(2) ? surgery::BoundaryDim("n") : surgery::BoundaryDim(number));
    }
    return result;
  }

  ir::Model& model;

 private:
  std::mt19937 random_;
  std::vector<ir::ValueId> values_;  // of the main graph
  std::vector<ir::ValueId> inner_;   // of bodies and functions
  std::vector<ir::NodeId> nodes_;
};

void extract(Draw& draw, Diagnostics& findings) {
  surgery::Extraction extraction;
  for (size_t i = draw.below(4); i > 0; --i) extraction.inputs.push_back(draw.boundary(draw.chance(3)));
  for (size_t i = draw.below(3); i > 0; --i) extraction.outputs.push_back(draw.boundary(false));
  surgery::boundary_values(draw.model, extraction);
  if (surgery::is_open(draw.model, extraction)) infer(draw.model);
  surgery::extract(draw.model, extraction, findings);
}

void insert(Draw& draw, Diagnostics& findings) {
  surgery::Insertion insertion;
  insertion.op = draw.chance(4) ? "Identity" : "Mystery";
  if (draw.chance(2)) insertion.domain = "custom";
  insertion.inputs = draw.names(2);
  insertion.outputs = draw.chance(4) ? insertion.inputs : draw.names(2);
  if (draw.chance(4)) insertion.attributes = {{"a", int64_t{1}}, {"b", std::vector<std::string>{"x", ""}}};
  surgery::insert(draw.model, insertion, findings);
}

void prune(Draw& draw, Diagnostics&) {
  std::vector<results::SkippedWeight> skipped;
  surgery::prune(draw.model, skipped);
  surgery::inspect_sparsity(draw.model);
}

void remove_nodes(Draw& draw, Diagnostics& findings) {
  const ir::NodeId node = draw.node();
  if (!node) return;
  surgery::remove_nodes(draw.model, {.op_types = {draw.text(draw.model[node].op)}, .names = draw.names(1)}, findings);
}

void strip(Draw& draw, Diagnostics& findings) {
  const std::vector<std::string> excluded = draw.names(1);
  surgery::strip(draw.model, excluded, findings);
}

void reconstruct(Draw& draw, Diagnostics& findings) {
  const onnx::EncodedModel full = onnx::encode(draw.model);
  surgery::strip(draw.model, {}, findings);
  if (draw.chance(4)) {
    surgery::reconstruct(draw.model, 7);
  } else {
    Diagnostics again;
    surgery::reconstruct(draw.model, model_of(full.bytes, again));
  }
}

void override_shapes(Draw& draw, Diagnostics& findings) {
  const surgery::Boundary shapes[] = {draw.boundary(true), draw.boundary(true)};
  surgery::override_shapes(draw.model, std::span(shapes).first(draw.below(2) + 1), findings);
}

void bound_sizes(Draw& draw, Diagnostics&) {
  infer(draw.model);
  std::vector<surgery::SizeBound> bounds;
  ops::Inference inference(draw.model);
  inference.run();
  for (const ir::ValueId value : analysis::unbounded_sizes(draw.model, inference)) bounds.push_back({value, 7});
  const surgery::SizeBound other{draw.value(), int64_t{1} << 40};
  const bool is_main = other.value && draw.model[other.value].graph == draw.model.main_graph();
  if (bounds.empty() && is_main) bounds.push_back(other);
  surgery::bound_sizes(draw.model, bounds);
}

// The node with what computes its operands, as a pattern.
surgery::PluginPattern pattern_of(Draw& draw, ir::NodeId last) {
  const ir::Model& model = draw.model;
  std::vector<ir::NodeId> nodes;
  for (const ir::Use& use : model[last].operands) {
    const ir::ValueId operand = use.value;
    const ir::NodeId producer = operand ? model[operand].producer : ir::NodeId();
    const bool is_new = producer && std::ranges::find(nodes, producer) == nodes.end();
    if (is_new && model[producer].graph == model[last].graph && draw.chance(5)) nodes.push_back(producer);
  }
  nodes.push_back(last);
  const auto name_of = [](ir::ValueId value) { return value ? "v" + std::to_string(value.index) : std::string(); };
  surgery::PluginPattern plugin;
  match::Pattern& pattern = plugin.pattern;
  std::vector<std::string> made;
  for (const ir::NodeId id : nodes) {
    match::PatternNode node;
    node.name = "n" + std::to_string(id.index);
    node.ops = {draw.text(model[id].op)};
    for (const ir::Use& operand : model[id].operands) node.inputs.push_back(name_of(operand.value));
    const bool has_two = node.inputs.size() == 2 && !node.inputs[0].empty() && !node.inputs[1].empty();
    node.is_commutative = has_two && draw.chance(4);
    for (const ir::ValueId result : model[id].results) node.outputs.push_back(name_of(result));
    for (const ir::Attribute& attribute : model[id].attributes) {
      plugin.attributes.push_back(
          {"a" + std::to_string(plugin.attributes.size()), {}, node.name, draw.text(attribute.name())});
    }
    made.insert(made.end(), node.outputs.begin(), node.outputs.end());
    pattern.nodes.push_back(std::move(node));
  }
  for (const match::PatternNode& node : pattern.nodes) {
    for (const std::string& input : node.inputs) {
      const bool is_known = std::ranges::find(made, input) != made.end();
      if (input.empty() || is_known || std::ranges::find(pattern.inputs, input) != pattern.inputs.end()) continue;
      pattern.inputs.push_back(input);
    }
  }
  pattern.outputs = pattern.nodes.back().outputs;
  return plugin;
}

// Matches are written down and read again, as `plugin match` and `plugin replace` do.
void replace(Draw& draw, Diagnostics&) {
  const ir::NodeId last = draw.node();
  if (!last) return;
  const surgery::PluginPattern plugin = pattern_of(draw, last);
  match::check(plugin.pattern);
  results::PluginMatches matches{"plugin", "Plugin", "custom", {}};
  for (const match::Match& match : match::find(draw.model, plugin.pattern)) {
    matches.instances.push_back(surgery::instance_of(draw.model, plugin, match));
  }
  const std::string written = formats::plugin_config_text({matches});
  for (const results::PluginMatches& read : formats::parse_plugin_config(written)) {
    surgery::replace_instances(draw.model, read);
  }
  sort(draw.model);
}

void shard(Draw& draw, Diagnostics&) {
  sort(draw.model);
  surgery::HintOptions options;
  options.layer.gather_q = draw.chance(4);
  if (draw.chance(4)) options.layer.replace.emplace();
  options.base.nb_rank = static_cast<int64_t>(draw.below(3)) + 1;
  options.base.group_size = options.base.nb_rank;
  formats::ShardHints hints = surgery::make_shard_hints(draw.model, options);
  if (draw.chance(2)) hints.inputs.push_back({draw.name(), static_cast<int64_t>(draw.below(3)) - 1, {}});
  if (draw.chance(2)) hints.attention_layers.push_back({draw.name(), true, true, {}});
  if (draw.chance(2)) hints.outputs.push_back({draw.name(), int64_t{1} << 40, 2});
  surgery::check_shard_hints(hints);
  surgery::shard(draw.model, hints);
}

void shard_weights(Draw& draw, Diagnostics&) {
  sort(draw.model);
  formats::ShardHints hints;
  hints.parallelism = "TP";
  hints.nb_rank = static_cast<int64_t>(draw.below(3)) + 2;
  const surgery::TensorSharding sharding = surgery::shard_tensors(draw.model, hints);
  surgery::set_rank(draw.model, sharding, hints.nb_rank - 1);
}

calibrate::Ranges ranges_of(Draw& draw, const convert::QdqPlan& plan) {
  calibrate::Ranges ranges;
  for (const std::string& name : plan.ranges(draw.model)) {
    if (!draw.chance(1)) ranges[name] = {draw.chance(4) ? -1.5 : 0.0, draw.chance(7) ? 2.0 : 1e38};
  }
  return ranges;
}

void quantize(Draw& draw, Diagnostics& findings) {
  sort(draw.model);
  infer(draw.model);
  convert::QdqOptions options;
  options.codes = static_cast<convert::QdqCodes>(draw.below(3));
  options.per_channel = draw.chance(6);
  const calibrate::Ranges ranges = ranges_of(draw, convert::plan_qdq(draw.model, options, findings));
  if (draw.chance(4)) {
    convert::insert_qdq(draw.model, options, ranges, findings);
  } else {
    convert::add_shadow_layers(draw.model, options, ranges, findings);
  }
}

void compress(Draw& draw, Diagnostics& findings) {
  sort(draw.model);
  infer(draw.model);
  convert::WeightOptions options;
  options.bits = draw.chance(4) ? 4 : 8;
  options.block_size = draw.chance(4) ? 16 : draw.below(2) * 32;
  options.asymmetric = draw.chance(4);
  if (draw.chance(3)) {
    options.form = convert::WeightForm::matmulnbits;
    options.block_size = 32;
  }
  convert::compress_weights(draw.model, options, findings);
}

using Operation = void (*)(Draw&, Diagnostics&);
struct Entry {
  const char* name;
  Operation operation;
  bool needs_sound_model = false;  // its command refuses others
};
constexpr Entry kOperations[] = {
    {"extract", extract},
    {"insert", insert},
    {"prune", prune},
    {"remove_nodes", remove_nodes},
    {"strip", strip},
    {"reconstruct", reconstruct},
    {"bound_sizes", bound_sizes},
    {"override_shapes", override_shapes},
    {"replace", replace},
    {"shard", shard},
    {"shard_weights", shard_weights},
    {"quantize", quantize, true},
    {"compress", compress, true},
};

void check(const ir::Model& model, bool was_sound) {
  ir::check_structure(model);
  Diagnostics found, again;
  ir::verify(model, found);
  if (was_sound) require(found.error_count() == 0, "what was sound is sound");
  const onnx::EncodedModel encoded = onnx::encode(model);
  ir::check_structure(model_of(encoded.bytes, again));  // an Error is a failure
  if (was_sound) require(again.error_count() == 0, "a sound model is sound as a file");
}

void try_operation(const Entry& entry, Bytes bytes, uint32_t seed) {
  Diagnostics findings;
  ir::Model model = model_of(bytes, findings);
  const bool is_sound = findings.error_count() == 0;
  if (entry.needs_sound_model && !is_sound) return;
  Draw draw(model, seed);
  try {
    entry.operation(draw, findings);
  } catch (const Error& error) {
    require(error.line().find_first_of("\n\r") == std::string::npos, "one line");
    return;
  }
  try {
    check(model, is_sound);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", entry.name, error.line().c_str());
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  try {
    Diagnostics findings;
    model_of(bytes, findings);
  } catch (const Error&) {
    return 0;
  }
  uint32_t seed = seed_of(bytes);
  for (const Entry& entry : kOperations) try_operation(entry, bytes, seed++);
  return 0;
}
