#include "inspect/data/data_listing.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "compare/statistics.h"
#include "inspect/data/percentiles.h"

namespace assay::inspect {
namespace {

using formats::SavedInputs;
using formats::SavedRuns;
using results::ListedArray;
using results::ListedIteration;
using results::ListedRun;

bool fits(const std::vector<std::string>& patterns, std::string_view name) {
  const auto matches = [&](const std::string& pattern) { return pattern == name || matches_glob(pattern, name); };
  return patterns.empty() || std::ranges::any_of(patterns, matches);
}

std::string kind_of(const tensor::Datum& value) {
  return value.is_sequence() ? "sequence" : value.is_map() ? "map" : "empty";
}

class Lister {
 public:
  explicit Lister(const DataOptions& options) : options_(options) {}

  ListedRun run(std::string runner, const std::vector<const tensor::NamedData*>& iterations) {
    ListedRun run{std::move(runner), iterations.size(), {}};
    const size_t shown = options_.all_iterations ? iterations.size() : std::min<size_t>(iterations.size(), 1);
    for (size_t i = 0; i < shown; ++i) run.iterations.push_back(iteration(i, *iterations[i]));
    return run;
  }
  bool found_tensor() const { return found_tensor_; }

 private:
  ListedIteration iteration(size_t number, const tensor::NamedData& arrays) {
    ListedIteration listed{number, std::nullopt, {}};
    for (const tensor::NamedDatum& array : arrays) {
      if (!fits(options_.tensors, array.name)) continue;
      found_tensor_ = true;
      listed.arrays.push_back(with_frame([&] { return fmt::format("array `{}`", printable(array.name)); },
                                         [&] { return describe(array); }));
      const tensor::StoragePtr elements = array.value.is_tensor() ? array.value.tensor().storage() : nullptr;
      if (elements) elements->release();  // one array at a time is held
    }
    return listed;
  }

  const TensorSlice* find_slice(std::string_view name) const {
    const TensorSlice* found = nullptr;
    for (const TensorSlice& slice : options_.slices) {
      if (slice.pattern == name || matches_glob(slice.pattern, name)) found = &slice;
    }
    return found;
  }

  ListedArray describe(const tensor::NamedDatum& array) const {
    ListedArray listed;
    listed.name = array.name;
    listed.dtype = kind_of(array.value);
    if (!array.value.is_tensor()) return listed;
    const TensorSlice* const slice = find_slice(array.name);
    const tensor::Tensor& whole = array.value.tensor();
    const tensor::Tensor tensor = slice == nullptr ? whole : take_slice(whole, slice->slice);
    if (slice != nullptr) listed.slice = slice->text;
    const tensor::DTypeKind kind = tensor::kind(tensor.dtype());
    listed.dtype = tensor::name(tensor.dtype());
    listed.shape = tensor.shape();
    listed.is_boolean = kind == tensor::DTypeKind::boolean;
    if (kind != tensor::DTypeKind::string && kind != tensor::DTypeKind::complex) {
      listed.stats = compare::statistics(tensor, {.percentiles = true, .histogram = options_.histogram});
      listed.percentiles = percentiles(tensor, options_.percentiles);
    }
    if (options_.values) listed.values = tensor::array_text(tensor, options_.text);
    return listed;
  }

  const DataOptions& options_;
  bool found_tensor_ = false;
};

std::vector<const tensor::NamedData*> iterations_of(const SavedInputs& inputs) {
  std::vector<const tensor::NamedData*> iterations;
  for (const tensor::NamedData& arrays : inputs) iterations.push_back(&arrays);
  return iterations;
}

std::vector<const tensor::NamedData*> iterations_of(const formats::SavedRun& run) {
  std::vector<const tensor::NamedData*> iterations;
  for (const formats::SavedIteration& iteration : run.iterations) iterations.push_back(&iteration.outputs);
  return iterations;
}

}  // namespace

results::DataListing list_data(const formats::SavedData& data, const DataOptions& options) {
  Lister lister(options);
  results::DataListing listing;
  const SavedRuns* const runs = std::get_if<SavedRuns>(&data);
  listing.has_runners = runs != nullptr;
  if (runs == nullptr) listing.runs.push_back(lister.run("", iterations_of(std::get<SavedInputs>(data))));
  for (const formats::SavedRun& run : runs == nullptr ? SavedRuns{} : *runs) {
    if (!fits(options.runners, run.runner)) continue;
    listing.runs.push_back(lister.run(run.runner, iterations_of(run)));
    for (ListedIteration& iteration : listing.runs.back().iterations) {
      iteration.runtime_seconds = run.iterations[iteration.number].runtime_seconds;
    }
  }
  if (!options.runners.empty() && (listing.runs.empty() || runs == nullptr)) {
    fail(ErrorCode::usage, "no runner matches `{}`", printable(join(options.runners, "`, `")));
  }
  if (!options.tensors.empty() && !lister.found_tensor()) {
    fail(ErrorCode::usage, "no tensor matches `{}`", printable(join(options.tensors, "`, `")));
  }
  return listing;
}

}  // namespace assay::inspect
