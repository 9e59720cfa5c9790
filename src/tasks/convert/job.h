#pragma once

#include "ir/rewriter.h"
#include "tasks/convert.h"

namespace assay::tasks {

// What a conversion works on and fills in.
struct ConversionJob {
  const ConvertRequest& request;
  Observer& observer;
  LoadedModel& loaded;
  ir::Rewriter& rewriter;
  results::ConversionReport& report;
  bool uses_inputs = false;  // something was measured
};

void convert_to_half(const HalfRequest& request, ConversionJob& job);
void convert_to_int8(const Int8Request& request, ConversionJob& job);
void convert_weights(const WeightsRequest& request, ConversionJob& job);

}  // namespace assay::tasks
