#include "formats/change.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "tensor/convert.h"

namespace assay::formats {
namespace {

using tensor::NamedData;
using tensor::NamedDatum;

bool matches(const std::string& pattern, const std::string& name) {
  return pattern == name || matches_glob(pattern, name);
}

void choose_runner(SavedData& data, const std::string& pattern) {
  SavedRuns* const runs = std::get_if<SavedRuns>(&data);
  if (runs == nullptr) fail(ErrorCode::usage, "the data has no runners to choose `{}` from", printable(pattern));
  std::vector<std::string> names;
  for (const SavedRun& run : *runs) names.push_back(printable(run.runner));
  std::erase_if(*runs, [&](const SavedRun& run) { return !matches(pattern, run.runner); });
  if (runs->empty()) {
    fail(ErrorCode::usage, "no runner matches `{}`; there are `{}`", printable(pattern), join(names, "`, `"));
  }
}

// The arrays of every iteration of every file.
class Arrays {
 public:
  explicit Arrays(std::span<DataPart> parts) {
    for (DataPart& part : parts) add(part.data);
  }

  void select(const std::vector<std::string>& patterns) {
    if (patterns.empty()) return;
    for (const std::string& pattern : patterns) require(pattern, "select");
    for (NamedData* arrays : sets_) {
      std::erase_if(*arrays, [&](const NamedDatum& array) {
        return std::ranges::none_of(patterns, [&](const std::string& one) { return matches(one, array.name); });
      });
    }
  }

  void drop(const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns) {
      require(pattern, "drop");
      for (NamedData* arrays : sets_) {
        std::erase_if(*arrays, [&](const NamedDatum& array) { return matches(pattern, array.name); });
      }
    }
    const bool is_empty = std::ranges::all_of(sets_, [](const NamedData* arrays) { return arrays->empty(); });
    if (!patterns.empty() && is_empty) fail(ErrorCode::usage, "no array is left");
  }

  void rename(const std::string& from, const std::string& to) {
    require_name(from);
    for (NamedData* arrays : sets_) rename_in(*arrays, from, to);
  }

  void cast(const ArrayCast& cast) {
    require(cast.pattern, "cast");
    for (NamedData* arrays : sets_) {
      for (NamedDatum& array : *arrays) {
        if (!matches(cast.pattern, array.name) || !array.value.is_tensor()) continue;
        with_frame([&] { return "array `" + printable(array.name) + "`"; },
                   [&] { array.value = tensor::converted(array.value.tensor(), cast.dtype); });
      }
    }
  }

 private:
  void add(SavedData& data) {
    if (SavedInputs* const inputs = std::get_if<SavedInputs>(&data)) {
      for (NamedData& arrays : *inputs) sets_.push_back(&arrays);
      return;
    }
    for (SavedRun& run : std::get<SavedRuns>(data)) {
      for (SavedIteration& iteration : run.iterations) sets_.push_back(&iteration.outputs);
    }
  }

  static void rename_in(NamedData& arrays, const std::string& from, const std::string& to) {
    const auto array = std::ranges::find(arrays, from, &NamedDatum::name);
    if (array == arrays.end() || from == to) return;
    if (std::ranges::find(arrays, to, &NamedDatum::name) != arrays.end()) {
      fail(ErrorCode::usage, "cannot rename `{}` to `{}`: there is an array of that name", printable(from),
           printable(to));
    }
    array->name = to;
  }

  template <typename Predicate>
  bool has(Predicate is_it) const {
    return std::ranges::any_of(
        sets_, [&](const NamedData* arrays) { return std::ranges::any_of(*arrays, is_it, &NamedDatum::name); });
  }

  void require(const std::string& pattern, std::string_view what) const {
    if (!has([&](const std::string& name) { return matches(pattern, name); })) fail_unknown(pattern, what);
  }
  void require_name(const std::string& wanted) const {
    if (!has([&](const std::string& name) { return name == wanted; })) fail_unknown(wanted, "rename");
  }

  [[noreturn]] void fail_unknown(const std::string& pattern, std::string_view what) const {
    std::set<std::string> names;
    for (const NamedData* arrays : sets_) {
      for (const NamedDatum& array : *arrays) names.insert(array.name);
    }
    const std::optional<std::string> near = did_you_mean(pattern, std::vector<std::string>(names.begin(), names.end()));
    fail(ErrorCode::usage, "there is no array `{}` to {}{}", printable(pattern), what,
         near ? "; did you mean `" + printable(*near) + "`?" : "");
  }

  std::vector<NamedData*> sets_;
};

}  // namespace

void change_data(std::span<DataPart> parts, const DataChanges& changes) {
  if (!changes.runner.empty()) {
    for (DataPart& part : parts) choose_runner(part.data, changes.runner);
  }
  Arrays arrays(parts);
  arrays.select(changes.selected);
  arrays.drop(changes.dropped);
  for (const auto& [from, to] : changes.renamed) arrays.rename(from, to);
  for (const ArrayCast& cast : changes.casts) arrays.cast(cast);
}

}  // namespace assay::formats
