#include "passes/loops.h"

#include "ir/queries.h"
#include "ops/traits.h"

namespace assay::passes {

ir::ValueId before_identities(PassRun& run, ir::ValueId value) {
  for (ir::NodeId node = producer(run.model(), value);
       node && ops::traits(run.model(), node).is_identity && run.is_standard(node);
       node = producer(run.model(), value)) {
    value = operand(run.model(), node, 0);
  }
  return value;
}

}  // namespace assay::passes
