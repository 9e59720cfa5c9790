#include <fmt/format.h>

#include "base/text.h"
#include "surgery/reconstruct.h"
#include "surgery/strip.h"
#include "tasks/edit/edit_job.h"

namespace assay::tasks {
namespace {

std::vector<std::string> reconstruct(ir::Model& model, const ModelSource& weights, uint64_t seed) {
  if (!weights.is_given()) return surgery::reconstruct(model, seed);
  return with_frame([&] { return fmt::format("weights of `{}`", printable(weights.path)); },
                    [&] {
                      Observer silent;
                      return surgery::reconstruct(model, load_model(weights, silent).model);
                    });
}

}  // namespace

EditOutcome strip_weights(const EditRequest& request, const std::vector<std::string>& excluded, Observer& observer) {
  EditJob job("surgeon weight-strip", request, observer);
  ir::Model& model = job.load();
  observer.info("Weights that nodes compute are not found: fold constants before stripping");
  const std::vector<surgery::StrippedWeight> weights = surgery::strip(model, excluded, job.findings());
  for (const surgery::StrippedWeight& weight : weights) {
    if (weight.is_sparse) observer.info("Found sparse tensor: " + printable(weight.name));
    observer.verbose("Stripped weight: " + printable(weight.name));
    job.changed("strip", weight.name, weight.is_sparse ? "2:4 sparse" : "");
  }
  observer.info(fmt::format("Finished stripping {} weights", weights.size()));
  return job.save();
}

EditOutcome reconstruct_weights(const EditRequest& request, const ModelSource& weights, uint64_t seed,
                                Observer& observer) {
  EditJob job("surgeon weight-reconstruct", request, observer);
  job.load();
  const std::vector<std::string> names = reconstruct(job.model(), weights, seed);
  for (const std::string& name : names) {
    observer.verbose("Reconstructed weight: " + printable(name));
    job.changed("reconstruct", name, "");
  }
  observer.info(fmt::format("Finished reconstructing {} weights", names.size()));
  return job.save();
}

}  // namespace assay::tasks
