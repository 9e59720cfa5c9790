#include "surgery/prune.h"

#include <fmt/format.h>

#include "base/text.h"
#include "tasks/edit/edit_job.h"

namespace assay::tasks {

EditOutcome prune_weights(const EditRequest& request, Observer& observer) {
  EditJob job("surgeon prune", request, observer);
  job.load();
  std::vector<results::SkippedWeight> skipped;
  const std::vector<surgery::PrunedWeight> weights = surgery::prune(job.model(), skipped);
  for (const results::SkippedWeight& weight : skipped) {
    observer.on_skipped_weight(weight);
    job.skipped("prune", weight.name, weight.reason);
  }
  observer.info(fmt::format("Found: {} weight tensor(s) eligible for pruning.", weights.size()));
  for (const surgery::PrunedWeight& weight : weights) {
    const std::string axis = fmt::format("axis {}", weight.axis);
    observer.verbose(fmt::format("{} tensor: {} along {}", weight.was_sparse ? "Already sparse" : "Pruned",
                                 printable(weight.name), axis));
    weight.was_sparse ? job.skipped("prune", weight.name, "it is 2:4 sparse already")
                      : job.changed("prune", weight.name, axis);
  }
  observer.info(fmt::format("Finished pruning {} weight tensor(s).", weights.size()));
  return job.save();
}

EditOutcome remove_nodes(const EditRequest& request, const surgery::NodeChoice& choice, Observer& observer) {
  EditJob job("surgeon prune", request, observer);
  job.load();
  const size_t removed = surgery::remove_nodes(job.model(), choice, job.findings());
  std::vector<std::string> words = choice.op_types;
  words.insert(words.end(), choice.names.begin(), choice.names.end());
  job.changed("remove", join(words, ", "), fmt::format("{} node(s)", removed));
  observer.info(fmt::format("Removed {} node(s).", removed));
  return job.save();
}

}  // namespace assay::tasks
