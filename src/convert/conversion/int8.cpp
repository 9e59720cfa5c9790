#include "convert/conversion/int8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "convert/conversion/layer_errors.h"
#include "convert/precision/float_values.h"
#include "convert/quantize/insert_qdq.h"
#include "convert/quantize/shadow_layers.h"
#include "match/named_nodes.h"
#include "ops/traits.h"
#include "passes/opset/opset_options.h"
#include "passes/pipelines.h"
#include "schema/imports.h"

namespace assay::convert {
namespace {

constexpr double kWorthIt = 0.9;  // of the noise: what is better by less may be worse on other inputs
constexpr double kPoorSnr = 20;   // in dB: a tenth of the signal is noise

// The reason for which a layer stays float; empty: it does not.
std::string misfit(const results::LayerError& error, const ErrorBound& bound) {
  const double seen = bound.is_snr ? error.snr_db : error.cosine;
  if (seen >= bound.least) return {};
  return bound.is_snr ? fmt::format("rounding leaves {:.1f} dB of signal to noise", seen)
                      : fmt::format("rounding turns its result to a cosine of {:.6f}", seen);
}

class LayeredIntegers final : public LayeredConversion {
 public:
  LayeredIntegers(const Conversion& conversion, const QdqOptions& options, const calibrate::Ranges& ranges)
      : conversion_(conversion), options_(options), ranges_(ranges) {}

  // Layers that multiply; what stands between them follows them.
  std::vector<TrialLayer> layers() override {
    const ir::Model& model = conversion_.model;
    Diagnostics repeated;
    const QdqPlan plan = plan_with_ranges(model, options_, ranges_, repeated);
    const std::map<ir::NodeId, uint64_t> macs = conversion_.host.measure(model).macs();
    std::vector<TrialLayer> layers;
    for (const Layer& layer : plan.layers) {
      if (!layer.converted || plan.roles[layer.node.index] != QdqRole::compute) continue;
      layers.push_back({layer.node, layer.name, macs.at(layer.node)});
    }
    return layers;
  }

  Bytes convert(ir::Model& model, const KeptLayers& kept, bool) override {
    QdqOptions options = options_;
    options.choice.kept.insert(kept.begin(), kept.end());
    Diagnostics repeated;
    const QdqReport made = insert_qdq(model, options, ranges_, repeated);
    return {made.weight_bytes_before, made.weight_bytes_after};
  }

 private:
  const Conversion& conversion_;
  const QdqOptions& options_;
  const calibrate::Ranges& ranges_;
};

class Int8Order {
 public:
  Int8Order(const Conversion& conversion, const Int8Conversion& wanted)
      : conversion_(conversion), wanted_(wanted), options_(wanted.options) {
    options_.store = [&host = conversion.host](tensor::Tensor made) { return host.stored(std::move(made)); };
  }

  // The values whose ranges are needed.
  std::vector<std::string> prepare() {
    raise_operator_set();
    if (measures_layers()) keep_quantized_model();
    if (!needed_ranges().empty()) fuse_layers();
    return needed_ranges();
  }

  results::ConversionReport run(RangeSource& source) {
    report_.conversion = word();
    const std::vector<std::string> names = prepare();
    const RangeCandidate found = source.ranges(model(), names, options_);
    report_.calibration = found.name;
    if (measures_layers() && !names.empty()) choose_weights(found.ranges);
    if (!measures_layers() && found.may_measure) try_to_choose_weights(found.ranges);
    if (wanted_.bound) judge(*wanted_.bound);
    if (wanted_.trials.are_wanted) try_layers(found.ranges);
    conversion_.host.info(fmt::format("Converting layers to {}", word()));
    LayerErrors errors(conversion_, wanted_.reports_errors);
    convert(found.ranges);
    errors.measure(nodes_, report_);
    measure_outputs();
    return std::move(report_);
  }

 private:
  bool is_float8() const { return options_.codes == QdqCodes::float8; }
  std::string_view word() const { return is_float8() ? "fp8" : "int8"; }
  bool measures_layers() const { return wanted_.bound || wanted_.trials.are_wanted; }
  ir::Model& model() { return conversion_.model; }
  ir::NodeRange nodes() { return ir::nodes(model(), model().main_graph()); }

  // Older models are written in the operator set that has what is needed.
  void raise_operator_set() {
    constexpr int64_t kFirst = 10;
    constexpr int64_t kFirstPerChannel = 13;
    constexpr int64_t kFirstFloat8 = 19;
    constexpr std::array<std::string_view, 1> kPass = {"change-opset"};
    const int64_t version = schema::imported_version(model());
    const int64_t wanted = is_float8() ? kFirstFloat8 : kFirstPerChannel;
    const bool is_enough = version >= wanted || (version >= kFirst && !options_.per_channel && !is_float8());
    if (is_enough || version == 0) return;
    passes::Options options;
    options.of<passes::OpsetOptions>().version = wanted;
    passes::Pipeline(model(), conversion_.rewriter, options).run(kPass);
    if (schema::imported_version(model()) != wanted) return;  // the planning of quantizers refuses it
    conversion_.host.info(fmt::format("The model is written in operator set {}: {} has no {}", wanted, version,
                                      is_float8() ? "float8" : "scales per channel"));
  }

  // Keeps the nodes of a model that is quantized already: layers that cost too much were left float before, and would
  // be measured again on numbers that are rounded by now.
  void keep_quantized_model() {
    const auto is_quantizer = [this](ir::NodeId node) { return ops::traits(model(), node).encodes(); };
    bool is_quantized = false;
    for (const ir::NodeId node : nodes()) is_quantized = is_quantized || is_quantizer(node);
    if (!is_quantized) return;
    for (const ir::NodeId node : nodes()) {
      options_.choice.kept[node] = "the model is quantized already";
    }
  }

  // The plan is made again when ranges are known, and then says what it finds.
  std::vector<std::string> needed_ranges() {
    Diagnostics repeated;
    return plan_qdq(model(), options_, repeated).ranges(model());
  }

  // Fuses what would stand between a convolution and its integers: batch normalisation, above all. A node that takes
  // the place of an excluded one is excluded too.
  void fuse_layers() {
    std::vector<ir::NodeId> before;
    for (const ir::NodeId node : nodes()) before.push_back(node);
    const std::vector<bool> named = match::named_nodes(model(), before, options_.choice.excluded, conversion_.findings);
    options_.choice.excluded.clear();
    const passes::Options options;
    passes::Pipeline(model(), conversion_.rewriter, options).run(passes::fusion_passes());
    const auto is_named = [&](ir::NodeId node) { return node.index < named.size() && named[node.index]; };
    for (const ir::NodeId node : nodes()) {
      if (std::ranges::any_of(model().origins().of(node), is_named)) options_.choice.kept[node] = "excluded by name";
    }
  }

  // The costs of each layer alone, by its result.
  std::map<std::string, results::LayerError> costs(const calibrate::Ranges& ranges) {
    Measurement& measurement = conversion_.host.measure(model());
    ir::Model shadowed = measurement.copy();
    Diagnostics repeated;
    Measurement::NamePairs pairs;
    for (const ShadowLayer& layer : add_shadow_layers(shadowed, options_, ranges, repeated)) {
      pairs[layer.result] = layer.shadow;
    }
    conversion_.host.info(fmt::format("Measuring the rounding error of each of {} layer(s)", pairs.size()));
    return measurement.differences(shadowed, pairs);
  }

  // Numbers of weights are cut off, for the least square error, where the layers that use them, each alone, and the
  // outputs are better for it: what a weight is multiplied with is not even, and so without measuring they often are
  // not.
  void choose_weights(const calibrate::Ranges& ranges) {
    costs_ = costs(ranges);
    if (is_float8()) return;  // steps are short where most numbers are
    for (const ir::NodeId node : nodes()) options_.clipped.merge(weights_of(node));
    const std::map<std::string, results::LayerError> clipped = costs(ranges);
    for (const ir::NodeId node : nodes()) {
      const results::LayerError* cost = cost_of(node);
      if (!cost || clipped.at(result_of(node)).snr_db > cost->snr_db) continue;
      for (const ir::ValueId weight : weights_of(node)) options_.clipped.erase(weight);
    }
    const std::set<ir::ValueId> mixed = options_.clipped;
    const double noise = noise_of_outputs(ranges);
    options_.clipped.clear();
    if (noise < kWorthIt * noise_of_outputs(ranges)) options_.clipped = mixed;
    for (const ir::NodeId node : nodes()) {
      const auto is_clipped = [this](ir::ValueId weight) { return options_.clipped.contains(weight); };
      if (cost_of(node) && std::ranges::any_of(weights_of(node), is_clipped)) {
        costs_.at(result_of(node)) = clipped.at(result_of(node));
      }
    }
  }

  // Without them all is as it is without measuring; choose_ranges has told why it fails.
  void try_to_choose_weights(const calibrate::Ranges& ranges) {
    const auto tried = attempt([&] {
      choose_weights(ranges);
      return true;
    });
    const Error* error = std::get_if<Error>(&tried);
    if (!error) return;
    if (error->code() == ErrorCode::cancelled) throw *error;
    options_.clipped.clear();
    costs_.clear();
  }

  std::set<ir::ValueId> weights_of(ir::NodeId node) {
    std::set<ir::ValueId> weights;
    for (const ir::Use& use : model()[node].operands) {
      if (use.value && float_constant(model(), use.value)) weights.insert(use.value);
    }
    return weights;
  }

  std::string result_of(ir::NodeId node) { return std::string(model().text(model()[model()[node].results[0]].name)); }

  // The noise of the outputs, as a share of their energy.
  double noise_of_outputs(const calibrate::Ranges& ranges) {
    constexpr double kBel = 10;
    Measurement& measurement = conversion_.host.measure(model());
    ir::Model converted = measurement.copy();
    Diagnostics repeated;
    insert_qdq(converted, options_, ranges, repeated);
    double noise = 0;
    for (const auto& [name, error] : try_to_measure(measurement, converted, repeated, true)) {
      noise += std::isnan(error.snr_db) ? HUGE_VAL : std::pow(kBel, -error.snr_db / kBel);
    }
    return noise;
  }

  // Leaves layers float whose result would lose too much if they alone were rounded.
  void judge(const ErrorBound& bound) {
    for (const ir::NodeId node : nodes()) {
      if (const results::LayerError* cost = cost_of(node)) {
        if (std::string reason = misfit(*cost, bound); !reason.empty()) options_.choice.kept[node] = std::move(reason);
      }
    }
  }

  void try_layers(const calibrate::Ranges& ranges) {
    LayeredIntegers layered(conversion_, options_, ranges);
    options_.choice.kept.merge(choose_layers(conversion_, layered, wanted_.trials.budget, report_));
  }

  // Measures the outputs, if inputs were needed anyway.
  void measure_outputs() {
    Measurement* measurement = conversion_.host.measurement();
    if (!measurement || !report_.changed) return;
    for (const auto& [name, error] : try_to_measure(*measurement, model(), conversion_.findings, true)) {
      const double kept = std::isnan(error.snr_db) ? -HUGE_VAL : error.snr_db;
      report_.output_snr_db = std::min(report_.output_snr_db.value_or(HUGE_VAL), kept);
    }
    if (report_.output_snr_db.value_or(HUGE_VAL) >= kPoorSnr) return;
    conversion_.findings.warn(
        "accuracy", "",
        fmt::format("the outputs keep no more than {:.1f} dB: layers that lose most can stay float",
                    *report_.output_snr_db),
        "max_error");
  }

  const results::LayerError* cost_of(ir::NodeId node) {
    const std::span<const ir::ValueId> results = model()[node].results;
    if (results.empty() || !results[0]) return nullptr;
    const auto found = costs_.find(std::string(model().text(model()[results[0]].name)));
    return found == costs_.end() ? nullptr : &found->second;
  }

  void convert(const calibrate::Ranges& ranges) {
    const QdqReport found = insert_qdq(model(), conversion_.rewriter, options_, ranges, conversion_.findings);
    report_.changed = !conversion_.rewriter.steps().empty();
    report_.activations = found.activations;
    report_.weights_converted = found.weights;
    report_.weight_bytes_before = found.weight_bytes_before;
    report_.weight_bytes_after = found.weight_bytes_after;
    for (const Layer& layer : found.layers) {
      nodes_.push_back(layer.node);
      report_.layers.push_back(
          {layer.name, layer.op, std::string(layer.converted ? word() : "float"), layer.reason, {}, {}});
      if (const results::LayerError* cost = cost_of(layer.node)) report_.layers.back().error = *cost;
    }
  }

  const Conversion& conversion_;
  const Int8Conversion& wanted_;
  QdqOptions options_;
  results::ConversionReport report_;
  std::map<std::string, results::LayerError> costs_;  // of each layer alone, by its result
  std::vector<ir::NodeId> nodes_;                     // of the report's layers
};

}  // namespace

std::vector<std::string> prepare_for_int8(const Conversion& conversion, const QdqOptions& options) {
  const Int8Conversion wanted{.options = options, .bound = {}};
  return Int8Order(conversion, wanted).prepare();
}

results::ConversionReport convert_to_int8(const Conversion& conversion, const Int8Conversion& wanted,
                                          RangeSource& source) {
  return Int8Order(conversion, wanted).run(source);
}

}  // namespace assay::convert
