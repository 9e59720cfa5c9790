#pragma once

#include <string>

#include "base/log.h"
#include "cli/stopwatch.h"

namespace assay::cli {

// Shows on a terminal how far work has come, and the time that is left, once it has taken more than two seconds.
class Progress {
 public:
  // `total` 0: not known.
  Progress(Log& log, std::string what, uint64_t total = 0) : log_(log), what_(std::move(what)), total_(total) {}
  ~Progress() { log_.status(""); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void expect(uint64_t total) { total_ = total; }
  void advance();

 private:
  Log& log_;
  std::string what_;
  uint64_t total_;
  uint64_t done_ = 0;
  double shown_ = 0;  // when, in seconds
  Stopwatch since_;
};

}  // namespace assay::cli
