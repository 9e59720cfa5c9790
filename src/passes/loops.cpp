#include "passes/loops.h"

#include "ir/queries.h"

namespace assay::passes {

ir::ValueId before_identities(PassRun& run, ir::ValueId value) {
  for (ir::NodeId node = producer(run.model(), value); node && run.is_op(node, "Identity");
       node = producer(run.model(), value)) {
    value = operand(run.model(), node, 0);
  }
  return value;
}

}  // namespace assay::passes
