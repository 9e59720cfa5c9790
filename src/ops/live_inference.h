#pragma once

#include <memory>
#include <optional>

#include "ir/edit.h"
#include "ops/inference.h"

namespace assay::ops {

// The inference of the model of an Edit, which makes all edits and must outlive this.
class LiveInference {
 public:
  explicit LiveInference(ir::Edit& edit) : edit_(edit) {}

  // Brought up to date; what was given before, types and dims above all, may be invalid then.
  const Inference& now();
  // Brought up to date as far as what was given before remains valid.
  const Inference& more();
  // The inference as it was last brought up to date.
  const Inference& last() { return inference_ ? *inference_ : now(); }

 private:
  ir::Edit& edit_;
  std::shared_ptr<ir::EditLog> edits_;
  std::optional<Inference> inference_;
};

}  // namespace assay::ops
