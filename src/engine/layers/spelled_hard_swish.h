#pragma once

#include "engine/layers/layer.h"

namespace assay::engine {

// HardSwish that is written out in operators: x times min(max(x + shift, 0), most) / most.
struct SpelledHardSwish {
  size_t nodes = 0;  // 0: it is something else
  float shift = 0;
  float most = 0;
};

// The HardSwish that the nodes of a layer from `next` on compute, an Add first; the division may be the last or be a
// product. No other node uses what is in between.
SpelledHardSwish match_hard_swish(const Layer& layer, size_t next);

}  // namespace assay::engine
