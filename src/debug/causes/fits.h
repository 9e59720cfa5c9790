#pragma once

#include <functional>

#include "debug/causes/observation.h"

namespace assay::debug {

using Predictor = std::function<std::optional<Numbers>(double)>;

struct Fitted {
  double parameter = 0;
  Numbers candidate;
};
// The parameter for which the prediction is nearest to what was given, in the elements that fits may use, with as few
// digits as explain as much. Returns nullopt if steps from the `starts` lead to none that explains the other elements.
std::optional<Fitted> fit(const Observation& seen, const std::vector<double>& starts, const Predictor& predict);

// `number` itself, 0, and what is some powers of ten larger and smaller.
std::vector<double> starts_around(double number);

}  // namespace assay::debug
