#pragma once

#include "formats/saved_data.h"
#include "tasks/generation/steps.h"

namespace assay::tasks {

// A step as an iteration of saved outputs: the logits of the next token, the part that was written into each cache, by
// the names of these outputs, and the token ids that were read, by that of their input.
formats::SavedIteration saved_step(const analysis::FeedRules& rules, const StepRecord& record,
                                   const std::string& runner);
// The step that such an iteration has. Error (usage) if it has no logits.
StepRecord step_of(const analysis::FeedRules& rules, const tensor::NamedData& outputs, uint64_t rows);

// True if both have read the same tokens; of one token in a row, and many, the last one counts.
bool has_read_same(const StepRecord& a, const StepRecord& b);

}  // namespace assay::tasks
