#include "ops/live_inference.h"

namespace assay::ops {

const Inference& LiveInference::now() {
  const bool is_current = inference_ && (edits_->is_empty() || inference_->renew(*edits_));
  if (!is_current) {
    inference_.reset();
    edits_ = edit_.log_edits();
    inference_.emplace(edit_.model()).run();
  }
  edits_->clear();
  inference_->drop_replaced();
  return *inference_;
}

const Inference& LiveInference::more() {
  if (!inference_) return now();
  if (edits_->is_empty() || edits_->has_all) return *inference_;
  const bool is_current = inference_->renew(*edits_);
  edits_->clear();
  edits_->has_all = !is_current;
  return *inference_;
}

}  // namespace assay::ops
