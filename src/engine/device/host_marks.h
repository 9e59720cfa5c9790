#pragma once

#include <utility>
#include <vector>

#include "base/stopwatch.h"

namespace assay::engine {

// Marks of a queue by the clock of the host.
class HostMarks {
 public:
  void add() { marks_.push_back(clock_.seconds()); }
  // Seconds from mark to mark; forgets them.
  std::vector<double> take() {
    const std::vector<double> marks = std::exchange(marks_, {});
    std::vector<double> between;
    for (size_t i = 1; i < marks.size(); ++i) between.push_back(marks[i] - marks[i - 1]);
    return between;
  }

 private:
  Stopwatch clock_;
  std::vector<double> marks_;
};

}  // namespace assay::engine
