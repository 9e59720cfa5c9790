#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/options.h"
#include "compare/runs/pairing.h"
#include "results/comparison.h"

namespace assay::compare {

// Compares neighbouring runs while they run: keeps only values that still have to be compared with the next run, and
// releases each as soon as it has been compared.
class RunComparer {
 public:
  RunComparer(size_t runners, const CompareOptions& options);

  void accept(size_t runner, uint64_t iteration, std::string_view name, const tensor::Datum& value);
  // All values of the iteration have been seen: values without a partner are settled now.
  void finish_iteration(size_t runner, uint64_t iteration);
  // The runner failed: it is not compared.
  void drop(size_t runner);

  // A failed output, where the options say that the first one ends everything.
  bool wants_stop() const { return wants_stop_; }
  // The comparisons of runner i with runner i + 1; names are filled in by the caller.
  std::vector<results::PairComparison> take();

 private:
  struct Held {
    tensor::NamedData parts;
    std::vector<bool> used;
    std::map<std::string, size_t, std::less<>> index;
  };
  using Key = std::pair<size_t, uint64_t>;

  void compare_part(size_t runner, uint64_t iteration, tensor::NamedDatum part);
  void compare_with(Held& held, size_t index, const tensor::NamedDatum& part, const Key& key, std::string_view match);
  void settle(Held& held, std::vector<tensor::NamedDatum>& rest, const Key& key);
  void settle_by_order(Held& held, std::vector<tensor::NamedDatum>& rest, const Key& key);
  void settle_by_value(Held& held, std::vector<tensor::NamedDatum>& rest, const Key& key);
  void report_unpaired(const Held& held, const std::vector<tensor::NamedDatum>& rest, const Key& key);
  void close_iteration(const Held& held, const Key& key);
  bool is_essential(std::string_view name) const;

  const CompareOptions& options_;
  NameMatcher matcher_;
  std::map<Key, Held> held_;                              // values of a run not compared with the next one yet
  std::map<Key, std::vector<tensor::NamedDatum>> rests_;  // values of a run that the previous one lacks
  std::map<Key, results::IterationComparison> open_;      // by the first runner of the pair
  std::vector<results::PairComparison> pairs_;
  bool wants_stop_ = false;
};

}  // namespace assay::compare
