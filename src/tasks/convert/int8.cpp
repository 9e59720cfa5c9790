#include <algorithm>

#include <fmt/format.h>

#include "passes/pipelines.h"
#include "passes/quantize/insert_qdq.h"
#include "passes/quantize/shadow_layers.h"
#include "tasks/convert/calibration.h"

namespace assay::tasks {
namespace {

// Why a layer stays float; empty: it does not.
std::string misfit(const results::LayerError& error, const ErrorBound& bound) {
  const double seen = bound.is_snr ? error.snr_db : error.cosine;
  if (seen >= bound.least) return {};
  return bound.is_snr ? fmt::format("rounding leaves {:.1f} dB of signal to noise", seen)
                      : fmt::format("rounding turns its result to a cosine of {:.6f}", seen);
}

class Int8Job {
 public:
  Int8Job(const Int8Request& request, ConversionJob& job)
      : request_(request), job_(job), options_(request.options), errors_(job, request.backend) {}

  void run() {
    job_.report.conversion = "int8";
    const std::optional<ErrorBound>& bound = request_.bound;
    if (bound) keep_quantized_model();
    if (!needed_ranges().empty()) fuse_layers();
    const std::vector<std::string> names = needed_ranges();
    const passes::ValueRanges ranges = find_ranges(request_, options_, job_, errors_, names);
    if (bound && !names.empty()) judge(*bound, ranges);
    job_.observer.info("Converting layers to int8");
    convert(ranges);
    if (job_.report.changed && request_.reports_errors) errors_.measure(nodes_);
    job_.observer.on_conversion(job_.report);
  }

 private:
  ir::Model& model() { return job_.loaded.model; }

  // What costs too much was left float before, and would be measured again on numbers that are rounded by now.
  void keep_quantized_model() {
    const auto is_quantizer = [this](ir::NodeId node) { return model().text(model()[node].op) == "QuantizeLinear"; };
    const ir::NodeRange nodes = ir::nodes(model(), model().main_graph());
    bool is_quantized = false;
    for (const ir::NodeId node : nodes) is_quantized = is_quantized || is_quantizer(node);
    if (!is_quantized) return;
    for (const ir::NodeId node : nodes) options_.choice.kept[node] = "the model was quantized within a bound already";
  }

  // The plan is made again when ranges are known, and then says what it finds.
  std::vector<std::string> needed_ranges() {
    Diagnostics repeated;
    return passes::plan_qdq(model(), options_, repeated).ranges(model());
  }

  // What takes the place of an excluded node is excluded too.
  void fuse_layers() {
    std::vector<ir::NodeId> nodes;
    for (const ir::NodeId node : ir::nodes(model(), model().main_graph())) nodes.push_back(node);
    const std::vector<bool> named = passes::named_nodes(model(), nodes, options_.choice.excluded, job_.loaded.findings);
    options_.choice.excluded.clear();
    fuse(model(), job_.rewriter);
    const auto is_named = [&](ir::NodeId node) { return node.index < named.size() && named[node.index]; };
    for (const ir::NodeId node : ir::nodes(model(), model().main_graph())) {
      if (std::ranges::any_of(model().origins().of(node), is_named)) options_.choice.kept[node] = "excluded by name";
    }
  }

  // What would stand between a convolution and its integers: batch normalisation, above all.
  static void fuse(ir::Model& model, ir::Rewriter& rewriter) {
    const passes::Options options;
    passes::Pipeline(model, rewriter, options).run(passes::fusion_passes());
  }

  // Leaves layers float whose result would lose too much if they alone were rounded.
  void judge(const ErrorBound& bound, const passes::ValueRanges& ranges) {
    Measurement& measurement = errors_.measurement();
    ir::Model shadowed = measurement.copy();
    ir::Rewriter rewriter(shadowed);
    fuse(shadowed, rewriter);
    Diagnostics repeated;
    Measurement::NamePairs pairs;
    for (const passes::ShadowLayer& layer : passes::add_shadow_layers(shadowed, options_, ranges, repeated)) {
      pairs[layer.result] = layer.shadow;
    }
    job_.observer.info(fmt::format("Measuring the rounding error of each of {} layer(s)", pairs.size()));
    costs_ = measurement.differences(shadowed, pairs);
    for (const ir::NodeId node : ir::nodes(model(), model().main_graph())) {
      if (const results::LayerError* cost = cost_of(node)) {
        if (std::string reason = misfit(*cost, bound); !reason.empty()) options_.choice.kept[node] = std::move(reason);
      }
    }
  }

  const results::LayerError* cost_of(ir::NodeId node) {
    const std::span<const ir::ValueId> results = model()[node].results;
    if (results.empty() || !results[0]) return nullptr;
    const auto found = costs_.find(std::string(model().text(model()[results[0]].name)));
    return found == costs_.end() ? nullptr : &found->second;
  }

  void convert(const passes::ValueRanges& ranges) {
    results::ConversionReport& report = job_.report;
    const passes::QdqReport found = passes::insert_qdq(model(), job_.rewriter, options_, ranges, job_.loaded.findings);
    report.changed = report.changed || !job_.rewriter.steps().empty();
    report.activations = found.activations;
    report.weights_converted = found.weights;
    report.weight_bytes_before = found.weight_bytes_before;
    report.weight_bytes_after = found.weight_bytes_after;
    for (const passes::Layer& layer : found.layers) {
      nodes_.push_back(layer.node);
      report.layers.push_back({layer.name, layer.op, layer.converted ? "int8" : "float", layer.reason, {}, {}});
      if (const results::LayerError* cost = cost_of(layer.node)) report.layers.back().error = *cost;
    }
  }

  const Int8Request& request_;
  ConversionJob& job_;
  passes::QdqOptions options_;
  LayerErrors errors_;
  std::map<std::string, results::LayerError> costs_;  // of each layer alone, by its result
  std::vector<ir::NodeId> nodes_;                     // of the report's layers
};

}  // namespace

void convert_to_int8(const Int8Request& request, ConversionJob& job) { Int8Job(request, job).run(); }

}  // namespace assay::tasks
