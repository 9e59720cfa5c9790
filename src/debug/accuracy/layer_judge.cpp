#include "debug/accuracy/layer_judge.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "debug/accuracy/difference.h"
#include "ir/queries.h"
#include "ops/evaluate.h"
#include "ops/traits.h"

namespace assay::debug {
namespace {

constexpr double kClear = 0.8;  // of the rough allowance

Difference judge_numbers(const std::vector<double>& given, const std::vector<double>& right, tensor::DType type,
                         const compare::Allowance& allowance) {
  return tensor::is_floating(type) ? judge_floats(given, right, allowance) : judge_whole(given, right, allowance);
}

// True if one of the runs gives the numbers, within roundoffs: the values between leave the range of their type and the
// side has kept them in a wider one.
bool is_of_a_run(const analysis::Samples& samples, const std::vector<double>& numbers, const LayerRounding& rounding) {
  for (uint32_t run = 0; run < samples.moved.size(); ++run) {
    const Datum moved = samples.of(run);
    if (!is_numeric(moved) || moved.tensor().count() != numbers.size()) continue;
    if (are_near(numbers, numbers_of(moved), rounding.roundoff(samples.nominal.declared()))) return true;
  }
  return false;
}

void note(const Difference& difference, results::LayerVerdict& error) {
  error.tolerance = difference.tolerance_there;
  error.excess = difference.excess;
  error.failed_count = difference.failed_count;
}

void acquit(results::LayerVerdict& error) {
  error.tolerance = INFINITY;
  error.excess = 0;
}

double greatest_shift(const Datum& a, const Datum& b) {
  return a.tensor().shape() == b.tensor().shape() ? greatest_distance(numbers_of(a), numbers_of(b)) : 0;
}

QuantizerFault fault_of(std::string_view value, const QuantizerFault& fault) {
  return {fmt::format("the quantizer of `{}` is not sound: {}", printable(value), fault.text), fault.is_clipped};
}

}  // namespace

bool are_finite(const Datum& datum) {
  if (!tensor::is_floating(datum.declared())) return true;
  return std::ranges::all_of(numbers_of(datum), [](double number) { return std::isfinite(number); });
}

void LayerJudge::begin_runs(SideLayer& layer) {
  if (layer.runs) return;
  layer.runs = side_.make_runs(layer.node, oracle_.captured(layer.node), layer.exact);
  runner().begin(*layer.runs);
}

LayerRunner LayerJudge::runner() {
  return {model_, side_.rounding(), oracle_, [this](ir::ValueId value) { return side_.value(value); }};
}

Judged LayerJudge::judge(SideLayer& layer, size_t result, const Datum& given, const Datum& truth,
                         results::LayerVerdict& error) {
  const Datum& exact = layer.exact[result];
  error.count = exact.tensor().count();
  if (given.tensor().shape() != exact.tensor().shape()) {
    error.introduced = error.total = error.excess = INFINITY;
    error.failed_count = error.count;
    return {};
  }
  const bool has_truth = is_numeric(truth) && truth.tensor().shape() == exact.tensor().shape();
  const Distances found = measure_distances(given, exact, has_truth ? truth : Datum(), layer.rough);
  error.introduced = found.introduced;
  error.inherited = found.inherited;
  error.total = found.total;
  error.magnitude = found.magnitude;
  error.tolerance = found.tolerance_there;
  error.excess = found.excess;
  const bool is_quantized = side_.quantized(layer.node) != nullptr;
  Judged judged;
  if (found.excess > kClear)
    judged = is_quantized ? judge_quantized(layer, result, given, error) : judge_closely(layer, result, given, error);
  if (!is_quantized) allow_bias_step(layer.node, exact, given, error);
  if (const QuantizerFault* const fault = side_.fault_before(layer.node)) judged.quantizer_fault = *fault;
  if (error.excess > 1 && side_.hides_codes(layer.node)) {
    judged.unknown = "codes of quantizers before it are not shown";
    acquit(error);
  }
  judged.is_out_of_range = error.excess <= 1 && std::isinf(error.inherited) && leaves_range(layer.node, truth, given);
  if (judged.is_out_of_range) error.excess = INFINITY;
  return judged;
}

double LayerJudge::unit_of(ir::ValueId value) const {
  const Datum known = side_.value(value);
  return side_.rounding().roundoff(known.is_tensor() ? known.declared() : tensor::DType::float32);
}

std::map<ir::ValueId, Datum> LayerJudge::sound_operands(ir::NodeId node, QuantizerFault& first_fault) const {
  std::map<ir::ValueId, Datum> sound;
  const QuantizedValues& quantized = *side_.quantized(node);
  for (const ir::Use& use : model_[node].operands) {
    const auto codes = use.value ? quantized.find(use.value) : quantized.end();
    if (codes == quantized.end() || sound.contains(use.value)) continue;
    const Quantization made = quantization_of(codes->second, side_.value(use.value), unit_of(use.value));
    if (made.fault.text.empty())
      sound[use.value] = ops::widen(made.numbers);
    else if (first_fault.text.empty())
      first_fault = fault_of(model_.text(model_[use.value].name), made.fault);
  }
  return sound;
}

// Runtimes make integers of a float bias, also of one that a BatchNormalization gives to the layer before it, where
// both factors of the products are codes: the step of these sums.
double LayerJudge::bias_step(ir::NodeId node) const {
  const bool is_folded = ops::traits(model_, node).is_affine();
  const ir::NodeId product = is_folded ? ir::producer(model_, ir::operand(model_, node, 0)) : node;
  const QuantizedValues* const quantized = product ? side_.quantized(product) : nullptr;
  if (quantized == nullptr || (!is_folded && model_[product].operands.size() < 3)) return 0;
  const auto data = quantized->find(ir::operand(model_, product, 0));
  const auto weights = quantized->find(ir::operand(model_, product, 1));
  if (data == quantized->end() || weights == quantized->end()) return 0;
  return std::ranges::max(numbers_of(data->second.scale)) * std::ranges::max(numbers_of(weights->second.scale));
}

void LayerJudge::allow_bias_step(ir::NodeId node, const Datum& exact, const Datum& given,
                                 results::LayerVerdict& error) const {
  const double step = error.excess > 1 && std::isfinite(error.excess) ? bias_step(node) : 0;
  if (step == 0 || greatest_shift(given, exact) > step / 2 + error.tolerance) return;
  error.tolerance += step / 2;
  error.excess = 1;
}

void LayerJudge::use_codes(SideLayer& layer) {
  if (side_.quantized(layer.node) == nullptr) return;
  QuantizerFault fault;
  side_.replace(sound_operands(layer.node, fault));
  if (!fault.text.empty()) side_.note_fault(layer.node, fault);
  layer.exact = oracle_.exact(layer.node, [this](ir::ValueId value) { return side_.value(value); });
}

Judged LayerJudge::judge_quantized(const SideLayer& layer, size_t result, const Datum& given,
                                   results::LayerVerdict& error) {
  QuantizerFault of_operands;
  side_.replace(sound_operands(layer.node, of_operands));
  const OperandSource operands = [this](ir::ValueId value) { return side_.value(value); };
  SideLayer own{.node = layer.node, .index = layer.index, .side = layer.side};
  own.exact = oracle_.exact(layer.node, operands);
  own.rough = side_.rounding().roughly(layer.node, operands, own.exact);
  Judged judged = judge_result(own, result, given, error);
  side_.replace({});
  error.tolerance += greatest_shift(own.exact[result], layer.exact[result]);
  if (judged.quantizer_fault.text.empty()) judged.quantizer_fault = std::move(of_operands);
  return judged;
}

// Judges a result of a layer on the operands that its model has.
Judged LayerJudge::judge_result(SideLayer& layer, size_t result, const Datum& given, results::LayerVerdict& error) {
  const Datum& exact = layer.exact[result];
  const Distances found = measure_distances(given, exact, Datum(), layer.rough);
  error.tolerance = found.tolerance_there;
  error.excess = found.excess;
  if (found.excess <= kClear) return {};
  const ir::ValueId value = model_[layer.node].results[result];
  const QuantizedValues& quantized = *side_.quantized(layer.node);
  const auto codes = quantized.find(value);
  if (codes == quantized.end()) {
    Judged judged = judge_closely(layer, result, given, error);
    allow_bias_step(layer.node, exact, given, error);
    return judged;
  }
  const Quantization made = quantization_of(codes->second, exact, unit_of(value));
  error.tolerance = made.step;
  Judged judged;
  if (!made.fault.text.empty()) {
    judged.quantizer_fault = fault_of(model_.text(model_[value].name), made.fault);
  } else if (!codes->second.codes.is_tensor() ||
             are_near(numbers_of(given), numbers_of(made.numbers), unit_of(value))) {
    error.excess = std::min(made.excess, 1.0);
  }
  return judged;
}

// Beside what moved roundings make of the layer.
Judged LayerJudge::judge_closely(SideLayer& layer, size_t result, const Datum& given, results::LayerVerdict& error) {
  const LayerRounding& rounding = side_.rounding();
  const Datum& exact = layer.exact[result];
  const std::vector<double> numbers = numbers_of(given), right = numbers_of(exact);
  const tensor::DType type = exact.declared();
  if (tensor::is_floating(type)) {
    const std::optional<Difference> of_type = judge_type(numbers, right, type, rounding.roundoff(type));
    if (of_type) {
      note(*of_type, error);
      return {.is_of_type = true};
    }
  }
  const double rough_excess = error.excess;
  Judged judged;
  for (;;) {
    judged.allowance = allowance_of(layer, result);
    const bool is_known = !judged.allowance.is_unknown && judged.allowance.of_elements.size() == right.size();
    if (is_known) note(judge_numbers(numbers, right, type, judged.allowance), error);
    const bool is_last = !layer.runs || layer.runs->is_complete();
    if (is_known && (error.excess <= 1 || is_last)) break;
    if (is_last) {
      if (rough_excess > 1) judged.unknown = judged.allowance.reason;
      acquit(error);
      return judged;
    }
    runner().go_on(*layer.runs);
  }
  if (error.excess > 1) judged.is_kept_wide = judge_as_merged(layer, result, numbers, error);
  return judged;
}

// A side that shows the operands may have computed the result without them, together with layers before it. Whether it
// has kept infinite values between in a wider type.
bool LayerJudge::judge_as_merged(const SideLayer& layer, size_t result, const std::vector<double>& numbers,
                                 results::LayerVerdict& error) {
  const std::optional<std::vector<analysis::Samples>> merged = side_.run_merged(layer.node);
  if (!merged || result >= merged->size()) return false;
  const analysis::Samples& samples = (*merged)[result];
  const LayerRounding& rounding = side_.rounding();
  const compare::Allowance allowance = rounding.allowance_of(samples);
  if (allowance.is_unknown && is_of_a_run(samples, numbers, rounding)) {
    acquit(error);
    return true;
  }
  if (allowance.is_unknown || allowance.of_elements.size() != numbers.size()) return false;
  const Difference difference =
      judge_numbers(numbers, numbers_of(samples.nominal), samples.nominal.declared(), allowance);
  if (difference.excess <= 1) note(difference, error);
  return false;
}

// True if a finite truth and finite operands end in infinity or NaN.
bool LayerJudge::leaves_range(ir::NodeId node, const Datum& truth, const Datum& given) const {
  if (!is_numeric(truth) || are_finite(given) || !are_finite(truth)) return false;
  return std::ranges::all_of(model_[node].operands, [&](const ir::Use& use) {
    const Datum operand = use.value ? side_.value(use.value) : Datum();
    return !is_numeric(operand) || are_finite(operand);
  });
}

compare::Allowance LayerJudge::allowance_of(SideLayer& layer, size_t result) {
  const LayerRounding& rounding = side_.rounding();
  if (!layer.runs && !side_.has_doubts(layer.node)) {
    const auto operands = [&](ir::ValueId value) { return side_.value(value); };
    std::optional<compare::Allowance> known = rounding.of_products(layer.node, operands, layer.exact[result], oracle_);
    if (known) return std::move(*known);
  }
  begin_runs(layer);
  return rounding.allowance_of(layer.runs->results[result]);
}

}  // namespace assay::debug
