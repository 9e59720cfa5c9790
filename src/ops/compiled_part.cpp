#include "ops/compiled_part.h"

#include "ops/operator.h"

namespace assay::ops {

bool is_compiled_part(const ir::Model& model, const ir::Node& node) {
  return model.text(node.op) == "EPContext" && model.text(node.domain) == kMicrosoft;
}

}  // namespace assay::ops
