#include "analysis/node_runs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

#include "analysis/products.h"
#include "ops/traits.h"
#include "tensor/elements.h"

namespace assay::analysis {
namespace {

using tensor::Datum;
using tensor::DType;

constexpr double kEdgeMargin = 8;        // deviations of an operand from an edge that still count as near
constexpr double kManyFlips = 0.05;      // of the elements of a quantizer
constexpr double kPlaceShift = 0x1p-22;  // four roundoffs of float32, in which places are computed
constexpr uint32_t kShiftedRuns = 4;
constexpr uint32_t kAddingRun = 2;
constexpr double kSelectionFactor = 3;  // factor by which two of the runs are moved further where elements are picked

// Choices of implementations that a run makes: four move places, one adds in float32, and all draw codes.
ops::Variation variation_of(uint32_t run) {
  const double even = run % 3 == 0 ? -kPlaceShift : kPlaceShift;
  const double odd = run % 2 == 0 ? -kPlaceShift : kPlaceShift;
  return {.even_places = run < kShiftedRuns ? even : 0,
          .odd_places = run < kShiftedRuns ? odd : 0,
          .adds_floats = run == kAddingRun,
          .code_draw = run + 1};
}

// True if inputs that are the same in all runs may give different results.
bool may_move(const Rounding& rounding, const std::vector<Datum>& exact) {
  if (rounding.kind == RoundingKind::quantized) return rounding.inputs > 0;
  return rounding.picks_places || rounding.makes_codes || rounding.free_axis ||
         (rounding.kind == RoundingKind::rounded && !are_exact(exact));
}

// True if a sum may be rounded on the way, also where its result is exact: unless all numbers are small multiples of
// one.
bool rounds_within(const NodeInputs& inputs, const Rounding& rounding) {
  if (!rounding.adds_elements) return false;
  const double terms = 2 * rounding.inputs * rounding.inputs;
  return std::ranges::any_of(inputs.operands, [&](const Samples* operand) {
    const Datum& datum = operand->nominal;
    return datum.is_tensor() && tensor::is_floating(datum.declared()) &&
           !are_small_multiples(tensor::load_elements<double>(datum.tensor()), terms);
  });
}

// The distance that an operand may have, and so many roundoffs more: of each element and of the greatest, since
// quantizers may scale the range.
std::vector<float> widened(const Samples& samples, double roundoffs) {
  const Datum& nominal = samples.nominal;
  if (!nominal.is_tensor() || !tensor::is_floating(nominal.declared())) return {};
  std::vector<float> allowed = reach(samples, kEdgeMargin);
  allowed.resize(nominal.tensor().count());
  const std::vector<double> values = tensor::load_elements<double>(nominal.tensor());
  const double share = roundoffs * arithmetic_roundoff(nominal.declared());
  const double greatest = greatest_size(values);
  for (size_t i = 0; i < values.size(); ++i) {
    allowed[i] += static_cast<float>(share * (std::abs(values[i]) + greatest));
  }
  return allowed;
}

// Notes how far elements of `moved` are from those of `nominal`.
void add_steps(const Datum& moved, const Datum& nominal, Samples& samples) {
  const bool fits = moved.is_tensor() && nominal.is_tensor() && moved.tensor().shape() == nominal.tensor().shape();
  if (!fits || tensor::kind(nominal.declared()) == tensor::DTypeKind::complex) return;
  const std::vector<double> a = tensor::load_elements<double>(nominal.tensor());
  const std::vector<double> b = tensor::load_elements<double>(moved.tensor());
  samples.steps.resize(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const auto step = static_cast<float>(std::abs(a[i] - b[i]));
    if (step > samples.steps[i]) samples.steps[i] = step;  // not NaN
  }
}

}  // namespace

bool NodeInputs::are_spread() const {
  return !std::ranges::all_of(operands, &Samples::is_same) ||
         !std::ranges::all_of(captured, [](const auto& one) { return one.second->is_same(); });
}

bool NodeInputs::have_flips() const {
  return std::ranges::any_of(operands, &Samples::has_flips) ||
         std::ranges::any_of(captured, [](const auto& one) { return one.second->has_flips; });
}

bool NodeInputs::have_steps() const {
  return std::ranges::any_of(operands, [](const Samples* samples) { return !samples->unstepped.empty(); });
}

std::vector<Datum> NodeInputs::of(std::optional<uint32_t> run) const {
  std::vector<Datum> data;
  for (const Samples* samples : operands) data.push_back(ops::widen(run ? samples->of(*run) : samples->nominal));
  return data;
}

NodeRuns::NodeRuns(const ir::Model& model, const ops::InterpreterOptions& limits, uint64_t seed, double least_roundoff)
    : model_(model),
      bodies_(model, seed, least_roundoff),
      interpreter_(model, {.is_wide = true,
                           .max_memory_bytes = limits.max_memory_bytes,
                           .max_steps = limits.max_steps,
                           .max_work = limits.max_work,
                           .hook = &bodies_}) {}

void NodeRuns::hold(std::span<const Datum> made) {
  ops::LiveMemory& memory = interpreter_.account().memory;
  for (const Datum& datum : made) memory.add(datum, {});
  if (memory.left(1) != 0) return;
  throw Error(ErrorCode::limit, "its values in all runs take more memory than is allowed").remedied_by("max_memory");
}

std::vector<Samples> NodeRuns::run(const NodeInputs& inputs, uint32_t runs) {
  Data nominal = inputs.of(std::nullopt);
  hold(nominal);
  Data exact = call(inputs, std::nullopt, nominal);
  const bool is_call = bodies_.is_call(inputs.node);
  const Rounding rounding = is_call ? Rounding() : rounding_of(model_, inputs.node, nominal, exact);
  const bool is_moved =
      inputs.are_spread() || has_inner(inputs.node) || may_move(rounding, exact) || rounds_within(inputs, rounding);
  std::vector<Samples> results(exact.size());
  for (size_t i = 0; i < exact.size(); ++i) results[i].nominal = nominal_of(exact[i]);
  if (rounding.kind == RoundingKind::random) {
    for (Samples& samples : results) samples.unknown = "it is drawn at random, or computed from what is";
  } else if (is_moved) {
    Moves moves{.rounding = rounding, .runs = runs, .draw = runs == 1 ? Draw::signs : Draw::numbers};
    if (rounding.kind == RoundingKind::quantized || rounding.kind == RoundingKind::decided) {
      for (const Samples* operand : inputs.operands) moves.reaches.push_back(widened(*operand, rounding.inputs));
    }
    if (exact.size() != 1 || !take_products(inputs, moves, nominal, exact[0], results[0])) {
      nominal.clear();  // large, and not needed any more
      exact.clear();
      for (uint32_t run = 0; run < runs; ++run) take_run(inputs, moves, run, results);
    }
    if (rounding.kind == RoundingKind::quantized) find_steps(inputs, moves, results);
  }
  const bool may_flip = rounding.kind == RoundingKind::quantized || rounding.makes_codes || inputs.have_flips();
  for (Samples& samples : results) {
    samples.has_flips = may_flip;
    settle(samples);
    hold({&samples.nominal, 1});
    hold(samples.moved);
    hold(samples.unstepped);
  }
  return results;
}

std::optional<FirstRuns> NodeRuns::run_first(const NodeInputs& inputs, const Data& exact, uint32_t runs) {
  if (has_inner(inputs.node)) return std::nullopt;
  const Rounding rounding = rounding_of(model_, inputs.node, inputs.of(std::nullopt), exact);
  const bool is_smooth = rounding.kind == RoundingKind::exact || rounding.kind == RoundingKind::rounded;
  if (!is_smooth || inputs.have_flips()) return std::nullopt;
  FirstRuns first{.results = std::vector<Samples>(exact.size())};
  for (size_t i = 0; i < exact.size(); ++i) first.results[i].nominal = nominal_of(exact[i]);
  first.is_all = !inputs.are_spread() && !may_move(rounding, exact) && !rounds_within(inputs, rounding);
  if (first.is_all) return first;
  if (leaves_domain(inputs, exact)) return std::nullopt;
  for (uint32_t run = 0; run < runs; ++run) {
    const Draw draw = run == 0 ? Draw::signs : Draw::opposite_signs;
    take_run(inputs, {.rounding = rounding, .draw = draw}, run, first.results);
  }
  for (Samples& samples : first.results) settle(samples);
  return first;
}

// A Conv or MatMul with constant weights in float32: its first operand's differences are multiplied in its place, and
// roundings of the sums are drawn from their squares. False where that cannot be.
bool NodeRuns::take_products(const NodeInputs& given, const Moves& moves, const Data& inputs, const Datum& exact,
                             Samples& result) {
  const bool is_product = is_product_of_rows(model_, given.node) && inputs[1].is_tensor();
  const bool is_stack = is_product && ops::traits(model_, given.node).product == ops::ProductKind::matrices &&
                        inputs[1].tensor().shape().size() != 2;
  const bool is_rounded = moves.rounding.kind == RoundingKind::rounded && result.nominal.declared() == DType::float32;
  const auto is_constant = [](const Samples* operand) { return operand->is_same(); };
  if (!is_product || is_stack || !is_rounded || !std::ranges::all_of(given.operands | std::views::drop(1), is_constant))
    return false;
  const Evaluate of_differences = [&](const Data& first) {
    Data all = inputs;
    all[0] = first[0];
    if (all.size() > 2) all.pop_back();  // the bias
    return call(given, std::nullopt, all)[0];
  };
  const auto moved = moved_products(*given.operands[0], moves.runs, exact, of_differences);
  if (!moved) return false;
  const double unit = std::max(arithmetic_roundoff(DType::float32), bodies_.least_roundoff());
  const Evaluate of_squares = [&](const Data& squares) { return call(given, std::nullopt, squares)[0]; };
  const std::vector<double> squares = product_squares(inputs, exact, {moves.rounding, unit}, of_squares);
  std::vector<float> deviations(squares.size());
  std::ranges::transform(squares, deviations.begin(),
                         [](double square) { return static_cast<float>(std::sqrt(square)); });
  for (uint32_t run = 0; run < moves.runs; ++run) {
    bodies_.set_run(run);
    result.add_run(moved_by((*moved)[run], deviations, key(given.node, moves, MovedBodies::kOutput)));
  }
  return true;
}

// True if an operand that goes in the opposite direction of the first run ends the function: the root of what is near
// 0.
bool NodeRuns::leaves_domain(const NodeInputs& inputs, const Data& exact) {
  if (ops::traits(model_, inputs.node).domain == ops::Domain::all || !inputs.are_spread()) return false;
  const Datum nominal = ops::widen(inputs.operands[0]->nominal);
  const Data ends = call(inputs, std::nullopt, {amplified(nominal, ops::widen(inputs.operands[0]->of(0)), -1)});
  const std::vector<double> there = tensor::load_elements<double>(ends[0].tensor());
  const std::vector<double> here = tensor::load_elements<double>(exact[0].tensor());
  for (size_t i = 0; i < here.size(); ++i) {
    if (std::isfinite(here[i]) && !std::isfinite(there[i])) return true;
  }
  return false;
}

// Opposite signs are those of the first run.
MoveKey NodeRuns::key(ir::NodeId node, const Moves& moves, uint32_t operand) {
  MoveKey key = bodies_.key(node, operand);
  if (moves.draw == Draw::numbers) return key;
  return {.seed = operand,
          .node = node.index,
          .operand = operand,
          .least_roundoff = key.least_roundoff,
          .draw = moves.draw};
}

bool NodeRuns::has_inner(ir::NodeId node) { return bodies_.is_call(node) || !model_.bodies(model_[node]).empty(); }

NodeRuns::Data NodeRuns::call(const NodeInputs& given, std::optional<uint32_t> run, const Data& inputs,
                              const ops::Variation& variation) {
  bodies_.set_run(run);
  interpreter_.vary(variation);
  std::vector<ops::InputDatum> captured;
  for (const auto& [value, samples] : given.captured) {
    captured.push_back({value, ops::widen(run ? samples->of(*run) : samples->nominal)});
  }
  return interpreter_.evaluate(given.node, inputs, captured);
}

NodeRuns::Data NodeRuns::moved_inputs(const NodeInputs& given, const Moves& moves, uint32_t run) {
  const Rounding& rounding = moves.rounding;
  Data inputs(given.operands.size());
  const bool is_outermost = run < 2;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const MoveKey key = this->key(given.node, moves, i);
    const Samples& samples = *given.operands[i];
    inputs[i] = ops::widen(samples.of(run));
    if (rounding.kind == RoundingKind::decided && is_outermost) {
      inputs[i] = moved_to_edges(ops::widen(samples.nominal), moves.reaches[i], key);
    } else if (rounding.kind == RoundingKind::selected && is_outermost) {
      inputs[i] = amplified(ops::widen(samples.nominal), inputs[i], kSelectionFactor);
    } else {
      const bool is_moved = i == 0 || !rounding.moves_first_only;
      inputs[i] = moved_input(inputs[i], is_moved ? rounding.inputs : 0, key);
    }
    if (i == 1 && rounding.folds_weights) {
      MoveKey folding = this->key(given.node, moves, i);
      folding.least_roundoff = roundoff(inputs[i].declared());
      inputs[i] = moved_input(inputs[i], 1, folding);
    }
  }
  return inputs;
}

void NodeRuns::take_run(const NodeInputs& given, const Moves& moves, uint32_t run, std::vector<Samples>& results) {
  const Rounding& rounding = moves.rounding;
  bodies_.set_run(run);
  Data inputs = moved_inputs(given, moves, run);
  hold(inputs);
  const Data outputs = call(given, run, inputs, variation_of(run));
  Data moved(outputs.size());
  for (uint32_t i = 0; i < outputs.size() && i < results.size(); ++i) {
    const MoveKey key = this->key(given.node, moves, MovedBodies::kOutput + i);
    moved[i] = moved_output(outputs[i], rounding, inputs.empty() ? nullptr : inputs.data(), key);
    if (rounding.free_axis) moved[i] = turned(moved[i], *rounding.free_axis, run);
    results[i].add_run(moved[i]);
    hold({&results[i].moved.back(), 1});
  }
  hold(moved);
  const bool passes_steps = rounding.passes_elements() && given.have_steps();
  if (rounding.picks_places || passes_steps) take_unstepped(given, moves, run, moved, std::move(inputs), results);
}

// Takes the run without steps of single elements; the distance to them is noted. Beside them, roundings of such
// operators do not count.
void NodeRuns::take_unstepped(const NodeInputs& given, const Moves& moves, uint32_t run, const Data& stepped,
                              Data inputs, std::vector<Samples>& results) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!given.operands[i]->unstepped.empty()) inputs[i] = ops::widen(given.operands[i]->without_steps(run));
  }
  const Data outputs = call(given, run, inputs);
  for (uint32_t i = 0; i < outputs.size() && i < results.size(); ++i) {
    const MoveKey key = this->key(given.node, moves, MovedBodies::kOutput + i);
    const Datum moved = moved_output(outputs[i], moves.rounding, inputs.empty() ? nullptr : inputs.data(), key);
    results[i].unstepped.push_back(results[i].held(moved));
    add_steps(stepped[i], moved, results[i]);
  }
}

// Finds the results that quantizers give when their operands are moved to the ends of their reach. Few that may flip
// are made to do so; of many, enough do by themselves.
void NodeRuns::find_steps(const NodeInputs& given, const Moves& moves, std::vector<Samples>& results) {
  std::array<Data, 2> ends;
  for (uint32_t run = 0; run < 2; ++run) {
    Data inputs = given.of(std::nullopt);
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = moved_to_edges(inputs[i], moves.reaches[i], {.run = run, .operand = i});
    }
    ends[run] = call(given, std::nullopt, inputs);
  }
  for (size_t i = 0; i < results.size() && i < ends[0].size() && i < ends[1].size(); ++i) {
    for (const Data& end : ends) add_steps(end[i], results[i].nominal, results[i]);
    const auto may_flip = std::ranges::count_if(results[i].steps, [](float step) { return step > 0; });
    const auto count = static_cast<double>(results[i].steps.size());
    const bool is_integer = results[i].nominal.is_tensor() && tensor::is_integer(results[i].nominal.declared());
    if (!is_integer || may_flip == 0 || static_cast<double>(may_flip) > kManyFlips * count) continue;
    const Flips flips{results[i].nominal, ends[0][i], ends[1][i]};
    for (uint32_t run = 0; run < moves.runs; ++run)
      results[i].moved[run] = with_flips(results[i].moved[run], flips, run);
  }
}

}  // namespace assay::analysis
