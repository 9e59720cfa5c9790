#include "debug/accuracy/influence.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "debug/accuracy/distances.h"
#include "surgery/make_input.h"

namespace assay::debug {
namespace {

// The true result of the layer with what its side adds to it.
Datum with_error(const Accused& accused) {
  std::vector<double> numbers = numbers_of(accused.truth);
  const std::vector<double> given = numbers_of(accused.given), exact = numbers_of(accused.exact);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (given[i] != exact[i]) numbers[i] += given[i] - exact[i];
  }
  return with_numbers(accused.truth, std::move(numbers));
}

}  // namespace

tensor::NamedData true_outputs(const ir::Model& model, const std::vector<ops::InputDatum>& inputs) {
  std::vector<ir::ValueId> wanted;
  for (const ir::Use& use : model.outputs(model.main_graph())) {
    if (std::ranges::find(wanted, use.value) == wanted.end()) wanted.push_back(use.value);
  }
  tensor::NamedData outputs;
  ops::Interpreter interpreter(model, {.is_wide = true});
  interpreter.run(inputs, wanted, [&](ir::ValueId value, const Datum& datum) {
    outputs.push_back({std::string(model.text(model[value].name)), datum});
  });
  return outputs;
}

double greatest_error(const tensor::NamedData& outputs, const tensor::NamedData& truth) {
  double greatest = 0;
  for (const tensor::NamedDatum& output : outputs) {
    const auto right = std::ranges::find(truth, output.name, &tensor::NamedDatum::name);
    if (right == truth.end() || !is_numeric(output.value) || !is_numeric(right->value)) continue;
    if (output.value.tensor().shape() != right->value.tensor().shape()) return INFINITY;
    greatest = std::max(greatest, greatest_distance(numbers_of(output.value), numbers_of(right->value)));
  }
  return greatest;
}

std::optional<double> Influence::of(const Accused& accused) {
  const tensor::Shape& shape = accused.given.tensor().shape();
  const bool is_whole = !is_numeric(accused.truth) || !tensor::is_floating(accused.truth.declared());
  if (is_whole || shape != accused.exact.tensor().shape() || shape != accused.truth.tensor().shape())
    return std::nullopt;
  const std::variant<double, Error> computed = attempt([&] {
    if (!truth_) truth_ = true_outputs(model_, inputs_);
    ir::Model cut = model_.copy();
    const ir::ValueId value = model_[accused.node].results[accused.result];
    const ir::ValueId input = surgery::make_input(cut, value, model_[value].type);
    std::vector<ops::InputDatum> feeds = inputs_;
    feeds.push_back({input, with_error(accused)});
    return greatest_error(true_outputs(cut, feeds), *truth_);
  });
  const double* const error = std::get_if<double>(&computed);
  return error == nullptr ? std::nullopt : std::optional(*error);
}

}  // namespace assay::debug
