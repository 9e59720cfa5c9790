#pragma once

#include <span>
#include <string_view>

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/model.h"
#include "cli/options/spec.h"
#include "ir/rewriter.h"
#include "results/conversion.h"

namespace assay::cli {

// What a conversion works on and fills in.
struct ConversionJob {
  const Arguments& arguments;
  Environment& environment;
  LoadedModel& loaded;
  ir::Rewriter& rewriter;
  results::ConversionReport& report;
};

// One kind of change from an ONNX model to another; each has a file of its own in this folder.
struct Conversion {
  // What the default output is called, `<model>.<suffix>.onnx`; empty: it is not asked for. `is_onnx`: an ONNX model is
  // to be written in any case, so that words which else permit something to an engine ask for it. Checks every word.
  std::string_view (*suffix)(const Arguments& arguments, bool is_onnx);
  std::vector<OptionGroup> (*groups)();
  void (*run)(ConversionJob& job);
};

// All of them, in the order in which they are carried out.
std::span<const Conversion> conversions();

}  // namespace assay::cli
