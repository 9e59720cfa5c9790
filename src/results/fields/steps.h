#pragma once

#include "results/fields/fields.h"
#include "results/rewrite_steps.h"

namespace assay::results {

template <>
struct Fields<StepListing> {
  static void of(auto& v, auto& step) {
    v("explanation", step.explanation);
    v("removed", step.removed);
    v("added", step.added);
    v("changed", step.changed);
  }
};

}  // namespace assay::results
