#pragma once

#include <memory>

#include "tasks/sweep.h"

namespace assay::tasks {

// The samples of a sweep, by their numbers; each has inputs of the model, and labels.
class SampleReader {
 public:
  virtual ~SampleReader() = default;
  // Error with the number of the sample as frame.
  virtual tensor::NamedData read(uint64_t number) = 0;
};

// The kind of data that a request names.
enum class DataKind : uint8_t { generated, file, folder, images, loader };
DataKind data_kind(const SweepRequest& request);

// Fills in what the plan says of data: its files and shards. A loader is run once, and what it gives is kept in the
// folder of the sweep, where an older plan's is used again if the loader is the same. A sample that cannot be read is
// the failure of its shard, and those behind it are not reached.
void plan_data(const SweepRequest& request, const results::SweepPlan* older, Observer& observer,
               results::SweepPlan& plan);

// `model`: for which samples are generated.
std::unique_ptr<SampleReader> open_samples(const SweepRequest& request, const results::SweepPlan& plan,
                                           const ir::Model& model);

}  // namespace assay::tasks
