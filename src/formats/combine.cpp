#include "formats/combine.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::formats {
namespace {

using tensor::NamedData;

// The sets of arrays of one part that each become one iteration.
std::vector<std::vector<const NamedData*>> columns_of(const SavedData& data) {
  std::vector<std::vector<const NamedData*>> columns;
  if (const SavedInputs* const inputs = std::get_if<SavedInputs>(&data)) {
    columns.emplace_back();
    for (const NamedData& arrays : *inputs) columns.back().push_back(&arrays);
    return columns;
  }
  for (const SavedRun& run : std::get<SavedRuns>(data)) {
    columns.emplace_back();
    for (const SavedIteration& iteration : run.iterations) columns.back().push_back(&iteration.outputs);
  }
  return columns;
}

class Merger {
 public:
  void add(const DataPart& part) {
    for (const std::vector<const NamedData*>& column : columns_of(part.data)) {
      note_count(column.size());
      for (size_t i = 0; i < column.size(); ++i) add_arrays(part.path, i, *column[i]);
    }
  }
  MergedData take() { return std::move(result_); }

 private:
  void note_count(size_t count) {
    if (has_count_ && count != result_.inputs.size() && !has_uneven_) {
      has_uneven_ = true;
      result_.warnings.emplace_back(
          "The provided files have different numbers of iterations.\nNote: Later iterations hold only the arrays of "
          "the "
          "files that have so many.");
    }
    has_count_ = true;
    if (count > result_.inputs.size()) {
      result_.inputs.resize(count);
      places_.resize(count);
    }
  }
  void add_arrays(const std::string& path, size_t iteration, const NamedData& arrays) {
    for (const tensor::NamedDatum& array : arrays) {
      const auto [place, is_new] = places_[iteration].emplace(array.name, result_.inputs[iteration].size());
      if (is_new)
        result_.inputs[iteration].push_back(array);
      else
        overwrite(path, array, result_.inputs[iteration][place->second]);
    }
  }
  void overwrite(const std::string& path, const tensor::NamedDatum& array, tensor::NamedDatum& old) {
    old = array;
    if (!overwritten_.emplace(path, array.name).second) return;
    result_.warnings.push_back(
        fmt::format("Overwriting input '{}' while merging data from {}.", printable(array.name), printable(path)));
  }

  MergedData result_;
  std::vector<std::unordered_map<std::string, size_t>> places_;
  std::set<std::pair<std::string, std::string>> overwritten_;
  bool has_count_ = false;
  bool has_uneven_ = false;
};

std::set<std::string> names_of(const NamedData& arrays) {
  std::set<std::string> names;
  for (const tensor::NamedDatum& array : arrays) names.insert(array.name);
  return names;
}

void warn_of_names(const std::string& path, const NamedData& first, const NamedData& other, JoinedData& joined) {
  if (names_of(first) == names_of(other)) return;
  joined.warnings.push_back(
      fmt::format("The arrays of `{}` have other names than those of the iterations before.", printable(path)));
}

void join_inputs(const std::string& path, const SavedInputs& more, JoinedData& joined) {
  SavedInputs& all = std::get<SavedInputs>(joined.data);
  if (!all.empty() && !more.empty()) warn_of_names(path, all[0], more[0], joined);
  all.insert(all.end(), more.begin(), more.end());
}

// The run of the same runner; of several, the one at the same place among them.
SavedRun* find_run(SavedRuns& runs, const std::string& runner, size_t place) {
  for (SavedRun& run : runs) {
    if (run.runner == runner && place-- == 0) return &run;
  }
  return nullptr;
}

void join_runs(const std::string& path, const SavedRuns& more, JoinedData& joined) {
  SavedRuns& all = std::get<SavedRuns>(joined.data);
  std::unordered_map<std::string, size_t> seen;
  for (const SavedRun& run : more) {
    SavedRun* const known = find_run(all, run.runner, seen[run.runner]++);
    if (known == nullptr) {
      joined.warnings.push_back(
          fmt::format("The runner '{}' of `{}` is not in the files before; it gets a run of its own.",
                      printable(run.runner), printable(path)));
      all.push_back(run);
      continue;
    }
    const bool both = !known->iterations.empty() && !run.iterations.empty();
    if (both) warn_of_names(path, known->iterations[0].outputs, run.iterations[0].outputs, joined);
    known->iterations.insert(known->iterations.end(), run.iterations.begin(), run.iterations.end());
  }
}

}  // namespace

MergedData merge_data(const std::vector<DataPart>& parts) {
  Merger merger;
  for (const DataPart& part : parts) merger.add(part);
  return merger.take();
}

JoinedData concat_data(const std::vector<DataPart>& parts) {
  JoinedData joined;
  joined.data = parts.at(0).data;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].data.index() != joined.data.index()) {
      fail(ErrorCode::usage, "`{}` holds {}, but `{}` holds {}", printable(parts[0].path),
           joined.data.index() == 0 ? "inputs" : "outputs", printable(parts[i].path),
           joined.data.index() == 0 ? "outputs" : "inputs");
    }
    if (const SavedInputs* const inputs = std::get_if<SavedInputs>(&parts[i].data))
      join_inputs(parts[i].path, *inputs, joined);
    else
      join_runs(parts[i].path, std::get<SavedRuns>(parts[i].data), joined);
  }
  return joined;
}

}  // namespace assay::formats
