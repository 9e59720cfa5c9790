#pragma once

#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/convert.h"
#include "tensor/dtype.h"

namespace assay::cli {

// The nodes that a conversion covers: `--exclude`, `--op-types`, `--layer-precisions`, ...
OptionGroup layer_group();

// `LAYER:TYPE`
struct LayerPrecision {
  std::string layer;
  tensor::DType dtype;
};
// The layers chosen by `--exclude`, `--op-types` and `--exclude-op-types`.
convert::LayerChoice layer_choice(const Arguments& arguments);
// The precisions of `--layer-precisions`, and of `--precision-constraints` in the same form. Error (usage) for other
// values.
std::vector<LayerPrecision> layer_precisions(const Arguments& arguments);
// The names of layers in `--layer-precisions` that are to have a float type.
std::vector<std::string> layers_without_integers(const Arguments& arguments);

}  // namespace assay::cli
