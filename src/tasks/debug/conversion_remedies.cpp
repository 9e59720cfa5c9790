#include "tasks/debug/conversion_remedies.h"

#include <algorithm>

#include "base/error.h"
#include "debug/accuracy/influence.h"
#include "ir/naming.h"
#include "ir/queries.h"
#include "ops/inference.h"
#include "ops/traits.h"
#include "tasks/convert.h"

namespace assay::tasks {
namespace {

// `float16`, `bfloat16` or `int8`, by what the model computes in; empty: none of them.
std::string precision_of(const ir::Model& model) {
  ops::Inference inference(model);
  inference.run();
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    const ops::Traits& traits = ops::traits(model, node);
    if (traits.encodes() || traits.decodes()) return "int8";
    for (const ir::ValueId value : model[node].results) {
      const ops::Type& type = inference.type(value);
      const bool is_half = type.dtype == tensor::DType::float16 || type.dtype == tensor::DType::bfloat16;
      if (value && type.is_tensor() && is_half) return tensor::name(type.dtype);
    }
  }
  return {};
}

// True if most floats that nodes compute are of 16 bits in the other model.
bool is_mostly_half(const ir::Model& model, const debug::Counterpart& other) {
  ops::Inference inference(other.model);
  inference.run();
  uint64_t halves = 0, floats = 0;
  for (const auto& [mine, theirs] : other.values) {
    const ops::Type& type = inference.type(theirs);
    if (!model[mine].producer || ir::is_output(model, mine) || !type.is_tensor() || !tensor::is_floating(type.dtype))
      continue;
    ++floats;
    halves += type.dtype == tensor::DType::float16 || type.dtype == tensor::DType::bfloat16 ? 1 : 0;
  }
  return 2 * halves > floats;
}

class ConversionRemedies {
 public:
  ConversionRemedies(const RemedyCase& given, std::string precision, const results::AccuracySide& side)
      : given_(given),
        precision_(std::move(precision)),
        side_(side),
        truth_(debug::true_outputs(given.model, given.inputs)) {}

  std::vector<results::Remedy> run(std::span<const debug::Accused> culprits) {
    std::vector<ir::NodeId> nodes;
    for (const debug::Accused& accused : culprits) {
      if (std::ranges::find(nodes, accused.node) == nodes.end()) nodes.push_back(accused.node);
    }
    add({.text = "the first guilty layer in float32"}, {nodes.data(), 1});
    if (nodes.size() > 1) add({.text = "the guilty layers in float32"}, nodes);
    if (precision_ != "int8") {
      add({.text = "layers in float32 whose values do not fit", .measures_ranges = true}, {});
      if (precision_ == "float16")
        add({.text = "constants that do not fit as the nearest numbers that do", .clamps = true}, {});
    } else {
      for (const std::string_view word : {"entropy", "percentile", "mse", "minmax"})
        add({.text = fmt::format("calibrated by {}", word), .calibration = std::string(word)}, {});
    }
    return std::move(tried_);
  }

 private:
  // Adds a remedy, unless the model cannot be converted or run.
  void add(results::Remedy remedy, std::span<const ir::NodeId> excluded) {
    const std::variant<double, Error> after = attempt([&] { return error_of(remedy, excluded); });
    if (std::holds_alternative<Error>(after)) return;
    remedy.precision = precision_;
    for (const ir::NodeId node : excluded) remedy.excluded.emplace_back(ir::known_name(given_.model, node));
    remedy.set_errors(side_.output_error, std::get<double>(after), side_.output_magnitude);
    tried_.push_back(std::move(remedy));
  }

  double error_of(const results::Remedy& remedy, std::span<const ir::NodeId> excluded) const {
    convert::LayerChoice choice;
    for (const ir::NodeId node : excluded) choice.kept.emplace(node, "it is to stay in float32");
    ConvertRequest request{.inputs = given_.request.inputs};
    request.edit.model = {.path = given_.request.model.path, .model = &given_.model};
    if (precision_ == "int8") {
      Int8Request wanted{.options = {.choice = std::move(choice)}, .backend = "ref"};
      const std::string_view word = remedy.calibration.empty() ? std::string_view("minmax") : remedy.calibration;
      set_calibrator(*std::ranges::find(calibrators(), word, &Calibrator::word), wanted);
      request.conversion = std::move(wanted);
    } else {
      const tensor::DType half = precision_ == "float16" ? tensor::DType::float16 : tensor::DType::bfloat16;
      const convert::HalfOverflow overflow = remedy.clamps ? convert::HalfOverflow::clamp : convert::HalfOverflow::keep;
      request.conversion = HalfRequest{.options = {.half = half, .overflow = overflow, .choice = std::move(choice)},
                                       .measures_ranges = remedy.measures_ranges};
    }
    Observer quiet;
    const ir::Model model = convert(request, quiet).model;
    const std::string backend = given_.request.backends.empty() ? "ref" : given_.request.backends.front();
    return debug::greatest_error(given_.runs.outputs(backend, model, given_.request.session.settings), truth_);
  }

  const RemedyCase& given_;
  std::string precision_;
  const results::AccuracySide& side_;
  tensor::NamedData truth_;
  std::vector<results::Remedy> tried_;
};

}  // namespace

std::vector<results::Remedy> try_conversions(const RemedyCase& given, const debug::Counterpart& other,
                                             std::span<const debug::Accused> culprits,
                                             const results::AccuracySide& side) {
  const std::string precision = precision_of(other.model);
  if (precision.empty() || precision == precision_of(given.model)) return {};
  if (precision != "int8" && !is_mostly_half(given.model, other)) return {};
  return ConversionRemedies(given, precision, side).run(culprits);
}

}  // namespace assay::tasks
