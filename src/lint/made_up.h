#pragma once

#include "lint/check.h"

namespace assay::lint {

// Causes of a failure that nobody chose: shapes and values of inputs that were made up for the run.
struct MadeUp {
  bool shapes = false;
  bool values = false;
  explicit operator bool() const { return shapes || values; }
  friend MadeUp operator|(MadeUp a, MadeUp b) { return {a.shapes || b.shapes, a.values || b.values}; }
};

// Follows them through the main graph. A shape that inference knows is the model's own, and so is a constant.
class MadeUpValues {
 public:
  // With inputs for the run.
  explicit MadeUpValues(const Subject& subject);

  // Made-up causes that a failure of the node may have: shapes of its operands, and elements that decide whether it can
  // run.
  MadeUp behind(ir::NodeId node) const;

 private:
  struct Facts {
    MadeUp shape;
    MadeUp content;
  };

  void follow(ir::NodeId node);
  MadeUp shape_of(ir::NodeId node, ir::ValueId result) const;
  MadeUp deciding_content(ir::NodeId node) const;
  bool decides(ir::NodeId node, uint32_t operand, ir::ValueId value) const;
  bool has_known_shape(ir::ValueId value) const;

  const Subject& subject_;
  const ir::Model& model_;
  std::vector<Facts> facts_;  // by value
};

}  // namespace assay::lint
