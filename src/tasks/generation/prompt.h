#pragma once

#include "analysis/feedback.h"
#include "tasks/generation/feeds.h"
#include "tasks/inputs.h"

namespace assay::tasks {

struct Prompt {
  tensor::NamedData inputs;                 // of the first step
  std::vector<std::vector<int64_t>> queue;  // further tokens of the prompt, one of each row, for models that read one
  uint64_t tokens = 0;
};

// The inputs of the first step: those that the request gives, and what follows from the rules for those that it does
// not give: empty caches, masks, positions. Generated ids are drawn from the whole table. Error (usage) if dims cannot
// be told or the caches have no room for so many steps.
Prompt make_prompt(const ir::Model& model, const exec::Signature& signature, const analysis::FeedRules& rules,
                   const InputRequest& request, uint64_t steps, Observer& observer, Diagnostics& findings);

}  // namespace assay::tasks
