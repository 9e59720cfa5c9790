#include "cli/convert/half.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/convert/layer_errors.h"
#include "cli/convert/layers.h"
#include "cli/convert/measurement.h"
#include "cli/input_data.h"
#include "cli/options/groups/backends.h"
#include "cli/options/values.h"
#include "passes/precision/convert_floats.h"
#include "report/text_conversion.h"

namespace assay::cli {
namespace {

using tensor::DType;

// Undefined: no conversion is asked for.
DType asked_half(const Arguments& arguments, bool is_onnx) {
  const auto asks = [&](std::string_view always, std::string_view with_onnx) {
    return arguments.flag(always) || (is_onnx && arguments.flag(with_onnx));
  };
  const bool float16 = asks("--fp-to-fp16", "--fp16");
  const bool bfloat16 = asks("--fp-to-bf16", "--bf16");
  if (float16 && bfloat16) fail(ErrorCode::usage, "float16 and bfloat16 are both asked for: give one of them");
  return float16 ? DType::float16 : bfloat16 ? DType::bfloat16 : DType::undefined;
}

// Inputs that only errors are reported with decide nothing.
bool measures_ranges(const Arguments& arguments) {
  return arguments.flag("--measure") || (has_input_data(arguments) && !arguments.flag("--report-error"));
}

bool measures_errors(const Arguments& arguments) {
  return measures_ranges(arguments) || arguments.flag("--report-error");
}

double margin(const Arguments& arguments) {
  const double number = parse_number("--margin", arguments.value("--margin"));
  if (!(number > 0 && number <= 1)) fail(ErrorCode::usage, "--margin: expected a share in (0, 1], seen {}", number);
  return number;
}

passes::HalfOptions parse_options(const Arguments& arguments, DType half) {
  passes::HalfOptions options;
  options.half = half;
  options.keeps_interface = !arguments.flag("--no-keep-io-types");
  const bool clamps = arguments.value("--fp16-overflow") == "clamp";
  options.overflow = clamps ? passes::HalfOverflow::clamp : passes::HalfOverflow::keep;
  options.choice = layer_choice(arguments);
  for (LayerPrecision& layer : layer_precisions(arguments)) {
    const bool is_kept = layer.dtype == DType::float32;
    if (!is_kept && layer.dtype != half) {
      fail(ErrorCode::usage, "layer `{}` is to be {}, but the model is converted to {}", printable(layer.layer),
           tensor::name(layer.dtype), tensor::name(half));
    }
    (is_kept ? options.choice.excluded : options.forced).push_back(std::move(layer.layer));
  }
  return options;
}

void check_measuring(const Arguments& arguments, const passes::HalfOptions& options) {
  static_cast<void>(margin(arguments));
  check_input_data(arguments);
  if (measures_errors(arguments) && !options.keeps_interface) {
    fail(ErrorCode::usage, "errors cannot be measured with --no-keep-io-types: both models need the same inputs");
  }
}

// The greatest magnitude of the node's operands and results that were measured.
std::optional<double> magnitude_of(const ir::Model& model, const ir::Node& node, const quantize::Ranges& ranges) {
  std::optional<double> magnitude;
  const auto look = [&](ir::ValueId value) {
    if (!value || model[value].graph != model.main_graph()) return;
    const auto found = ranges.find(model.text(model[value].name));
    if (found != ranges.end()) magnitude = std::max(magnitude.value_or(0), double{found->second});
  };
  for (const ir::Use& use : node.operands) look(use.value);
  for (const ir::ValueId value : node.results) look(value);
  return magnitude;
}

// Converts, and keeps account of what the report needs while nodes and values still have their old names.
class HalfJob {
 public:
  HalfJob(ConversionJob& job, DType half)
      : job_(job), arguments_(job.arguments), options_(parse_options(job.arguments, half)) {}

  void run() {
    job_.report.conversion = tensor::name(options_.half);
    if (measures_errors(arguments_)) measurement_.emplace(job_, arguments_.value("--measure-with"));
    if (measures_ranges(arguments_)) measure();
    note_results();
    job_.environment.log.info(fmt::format("Converting float tensors to {}", job_.report.conversion));
    convert();
    if (measurement_) measure_errors();
    print();
  }

 private:
  ir::Model& model() { return job_.loaded.model; }

  void measure() {
    const quantize::Ranges ranges = measurement_->ranges();
    const double largest = passes::largest_half(options_.half) * margin(arguments_);
    for (uint32_t i = 0; i < model().node_slots(); ++i) {
      const ir::NodeId node{i};
      if (!model()[node].alive || model()[node].is_outputs) continue;
      const std::optional<double> magnitude = magnitude_of(model(), model()[node], ranges);
      if (!magnitude) continue;
      magnitudes_[node] = *magnitude;
      const std::string reason = misfit(*magnitude, largest);
      if (!reason.empty()) options_.choice.kept[node] = reason;
      options_.measured.insert(node);
    }
  }

  std::string misfit(double magnitude, double largest) const {
    if (magnitude > largest) return fmt::format("its values reach {:.3g}", magnitude);
    const bool is_tiny = magnitude > 0 && magnitude < passes::smallest_normal_half(options_.half);
    return is_tiny ? fmt::format("its values are not above {:.3g}", magnitude) : "";
  }

  void note_results() {
    if (!measurement_) return;
    for (const ir::NodeId node : ir::nodes(model(), model().main_graph())) {
      for (const ir::ValueId value : model()[node].results) {
        if (value) results_[node].emplace_back(model().text(model()[value].name));
      }
    }
  }

  void convert() {
    results::ConversionReport& report = job_.report;
    const passes::HalfReport found = passes::convert_floats(model(), job_.rewriter, options_, job_.loaded.findings);
    report.changed = report.changed || found.changed;
    report.casts_added = found.edits.casts_added;
    report.casts_removed = found.edits.casts_removed;
    report.weights_converted = found.edits.weights;
    report.weight_bytes_before = found.edits.weight_bytes_before;
    report.weight_bytes_after = found.edits.weight_bytes_after;
    for (const passes::Layer& layer : found.layers) add_layer(layer);
    for (const auto& [value, survey] : found.weights) {
      if (survey.overflows == 0 && survey.flushed == 0) continue;
      report.weights.push_back(
          {std::string(model().text(model()[value].name)), survey.largest, survey.overflows, survey.flushed});
    }
  }

  void add_layer(const passes::Layer& layer) {
    results::ConvertedLayer added;
    added.name = layer.name;
    added.op = layer.op;
    added.precision = tensor::name(layer.converted ? options_.half : DType::float32);
    added.reason = layer.reason;
    if (const auto found = magnitudes_.find(layer.node); found != magnitudes_.end()) added.magnitude = found->second;
    nodes_.push_back(layer.node);
    job_.report.layers.push_back(std::move(added));
  }

  // What cannot be measured must not cost what was converted.
  void measure_errors() {
    using Errors = std::map<std::string, results::LayerError>;
    const std::variant<Errors, Error> measured = attempt([this] { return measurement_->errors(model()); });
    if (const Error* error = std::get_if<Error>(&measured)) {
      job_.loaded.findings.warn("error", "", "the errors could not be measured: " + error->line());
      return;
    }
    const Errors& errors = std::get<Errors>(measured);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const std::string& name : results_[nodes_[i]]) {
        const auto found = errors.find(name);
        if (found == errors.end()) continue;
        std::optional<results::LayerError>& known = job_.report.layers[i].error;
        known = known ? worse(*known, found->second) : found->second;
      }
    }
  }

  void print() {
    Log& log = job_.environment.log;
    const results::ConversionReport& report = job_.report;
    for (const results::WeightLoss& weight : report.weights) {
      log.write(weight.overflows > 0 ? LogLevel::warning : LogLevel::verbose, report::weight_line(weight, report));
    }
    print_kept_layers(report, log);
    log.info(report::conversion_summary(report));
    print_error_table(report, LogLevel::info, log);
  }

  ConversionJob& job_;
  const Arguments& arguments_;
  passes::HalfOptions options_;
  std::optional<Measurement> measurement_;
  std::map<ir::NodeId, double> magnitudes_;
  std::map<ir::NodeId, std::vector<std::string>> results_;  // names, before they change
  std::vector<ir::NodeId> nodes_;                           // of the report's layers
};

OptionRow flag(std::string_view name, std::string_view help) {
  return {.names = {name}, .arity = Arity::flag, .help = help};
}

OptionGroup half_group() {
  return {
      .title = "16-bit Floats",
      .description = "Conversion of float32 values and weights; float64 stays",
      .rows =
          {flag("--fp-to-fp16", "convert to float16"),
           flag("--fp-to-bf16", "convert to bfloat16"),
           flag("--fp16", "with an ONNX output the same as --fp-to-fp16"),
           flag("--bf16", "with an ONNX output the same as --fp-to-bf16"),
           flag("--no-keep-io-types", "convert the model's inputs and outputs too, instead of Casts behind them"),
           {.names = {"--fp16-overflow"},
            .choices = {"keep-f32", "clamp"},
            .default_value = "keep-f32",
            .help =
                "numbers of weights that 16 bits cannot hold, or that they make 0: leave the nodes in float32, or use "
                "the largest and the smallest number"},
           flag("--measure",
                "run the model, and leave nodes in float32 whose values 16 bits cannot hold; also done where "
                "inputs are given without --report-error"),
           {.names = {"--margin"},
            .metavar = "SHARE",
            .default_value = "0.5",
            .help = "with --measure: values may reach this share of the largest number"},
           {.names = {"--measure-with"},
            .metavar = "BACKEND",
            .default_value = "ref",
            .help = "what runs the model to measure: ref, onnxrt or openvino"},
           flag("--report-error",
                "run the model before and after, and say what each layer lost; what is converted stays the same")},
  };
}

}  // namespace

std::string_view half_suffix(const Arguments& arguments, bool is_onnx) {
  const DType half = asked_half(arguments, is_onnx);
  if (half == DType::undefined) return {};
  check_measuring(arguments, parse_options(arguments, half));
  return half == DType::float16 ? "fp16" : "bf16";
}

std::vector<OptionGroup> half_groups() { return {half_group(), layer_group(), input_data_group()}; }

void convert_to_half(ConversionJob& job) { HalfJob(job, asked_half(job.arguments, true)).run(); }

}  // namespace assay::cli
