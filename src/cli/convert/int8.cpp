#include "cli/convert/int8.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/convert/calibration.h"
#include "cli/convert/layer_errors.h"
#include "cli/convert/layers.h"
#include "cli/input_data.h"
#include "cli/options/values.h"
#include "passes/pipelines.h"
#include "passes/quantize/insert_qdq.h"
#include "passes/quantize/shadow_layers.h"

namespace assay::cli {
namespace {

passes::QdqOptions parse_options(const Arguments& arguments) {
  passes::QdqOptions options;
  options.asymmetric = arguments.flag("--asymmetric");
  options.per_channel = !arguments.flag("--per-tensor");
  options.choice = layer_choice(arguments);
  for (LayerPrecision& layer : layer_precisions(arguments)) {
    // Any float type keeps integers away.
    options.choice.excluded.push_back(std::move(layer.layer));
  }
  return options;
}

// What a layer may cost at most, by itself.
struct ErrorBound {
  bool is_snr = true;
  double least = 0;  // in dB, or as a cosine
};

std::optional<ErrorBound> error_bound(const Arguments& arguments) {
  if (!arguments.has("--max-error")) return std::nullopt;
  const std::string text = arguments.value("--max-error");
  const KeyValue parts = split_key_value(text);
  if (parts.key != "snr" && parts.key != "cosine") {
    fail(ErrorCode::usage, "--max-error: expected snr:DB or cosine:NUMBER, seen `{}`", printable(text));
  }
  return ErrorBound{parts.key == "snr", parse_number("--max-error", parts.value)};
}

// Why a layer stays float; empty: it does not.
std::string misfit(const results::LayerError& error, const ErrorBound& bound) {
  const double seen = bound.is_snr ? error.snr_db : error.cosine;
  if (seen >= bound.least) return {};
  return bound.is_snr ? fmt::format("rounding leaves {:.1f} dB of signal to noise", seen)
                      : fmt::format("rounding turns its result to a cosine of {:.6f}", seen);
}

void check_words(const Arguments& arguments) {
  static_cast<void>(error_bound(arguments));
  static_cast<void>(calibration_options(arguments));
  check_input_data(arguments);
  static_cast<void>(layer_precisions(arguments));
  if (arguments.flag("--per-tensor") && arguments.flag("--per-channel")) {
    fail(ErrorCode::usage, "--per-tensor and --per-channel contradict each other: give one of them");
  }
  if (arguments.flag("--asymmetric") && arguments.has("--calibration-cache")) {
    fail(ErrorCode::usage, "--asymmetric needs both ends of each range, of which a calibration cache has none");
  }
}

class Int8Job {
 public:
  explicit Int8Job(ConversionJob& job)
      : job_(job), arguments_(job.arguments), options_(parse_options(job.arguments)), errors_(job) {}

  void run() {
    job_.report.conversion = "int8";
    const std::optional<ErrorBound> bound = error_bound(arguments_);
    if (bound) keep_quantized_model();
    if (!needed_ranges().empty()) fuse_layers();
    const std::vector<std::string> names = needed_ranges();
    passes::ValueRanges ranges;
    if (!names.empty()) ranges = find_ranges(job_, errors_, options_, names);
    if (bound && !names.empty()) judge(*bound, ranges);
    job_.environment.log.info("Converting layers to int8");
    convert(ranges);
    if (job_.report.changed && arguments_.flag("--report-error")) errors_.measure(nodes_);
    print_integers(job_);
    if (job_.report.changed && !options_.asymmetric) {
      job_.environment.log.info("ONNX Runtime's CPU kernels run such a model slowly: --asymmetric makes one for them");
    }
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
    job_.environment.log.info(fmt::format("Measuring what rounding costs each of {} layer(s)", pairs.size()));
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

  ConversionJob& job_;
  const Arguments& arguments_;
  passes::QdqOptions options_;
  LayerErrors errors_;
  std::map<std::string, results::LayerError> costs_;  // of each layer alone, by its result
  std::vector<ir::NodeId> nodes_;                     // of the report's layers
};

OptionRow flag(std::string_view name, std::string_view help) {
  return {.names = {name}, .arity = Arity::flag, .help = help};
}

OptionGroup int8_group() {
  return {
      .title = "Int8",
      .description = "Layers that compute with integers, between QuantizeLinear and DequantizeLinear",
      .rows = {
          flag("--int8", "with an ONNX output: convert convolutions, matrix products, and what stands between"),
          {.names = {"--max-error"},
           .metavar = "snr:DB|cosine:C",
           .help = "leave layers float whose result, if they alone were rounded, would be worse than this"},
          flag("--per-channel", "one scale for each output channel of a weight; this is the default"),
          flag("--per-tensor", "one scale for each weight; operator sets before 13 have no other"),
          flag("--asymmetric",
               "activations as uint8 with a zero point, which ONNX Runtime's CPU kernels run 3 to 10 times as fast; "
               "default: int8 around 0, as TensorRT needs it")}};
}

}  // namespace

std::string_view int8_suffix(const Arguments& arguments, bool is_onnx) {
  if (!is_onnx || !arguments.flag("--int8")) return {};
  check_words(arguments);
  return "int8";
}

std::vector<OptionGroup> int8_groups() { return {int8_group(), calibration_group()}; }

void convert_to_int8(ConversionJob& job) { Int8Job(job).run(); }

}  // namespace assay::cli
