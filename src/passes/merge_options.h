#pragma once

namespace assay::passes {

// Options of passes for weights that they merge something into.
struct MergeOptions {
  // Large ones are tensor::make_derived() from the weights of the model, for who releases them.
  bool derives_weights = false;
};

}  // namespace assay::passes
