#pragma once

#include "ir/rewriter.h"
#include "tasks/convert.h"

namespace assay::tasks {

// The input of a conversion.
struct ConversionJob {
  const ConvertRequest& request;
  Observer& observer;
  LoadedModel& loaded;
  ir::Rewriter& rewriter;
  bool uses_inputs = false;  // something was measured
};

}  // namespace assay::tasks
