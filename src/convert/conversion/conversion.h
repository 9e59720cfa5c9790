#pragma once

#include <string>

#include "convert/measure/measurement.h"
#include "ir/rewriter.h"
#include "results/conversion.h"

namespace assay::convert {

// Services that a conversion needs of its caller.
class ConversionHost {
 public:
  virtual ~ConversionHost() = default;
  // Runs this model on the inputs. Asked more than once, it goes on with the model of the first time. Errors of the
  // inputs.
  virtual Measurement& measure(const ir::Model& model) = 0;
  // That of measure(), if it was asked; otherwise nothing.
  virtual Measurement* measurement() = 0;
  // For choose_ranges.
  virtual MeasuringHost& measuring_host() = 0;
  // A constant that was made, where it takes no memory until the model is saved, if there is such a place.
  virtual tensor::Tensor stored(tensor::Tensor made) = 0;
  // A line about what comes next.
  virtual void info(const std::string& line) = 0;
};

// A model that is to be converted, its functions inlined, and who sees it. Conversions return reports of which they
// fill in what became of the model.
struct Conversion {
  ir::Model& model;
  ir::Rewriter& rewriter;
  Diagnostics& findings;
  ConversionHost& host;
};

}  // namespace assay::convert
