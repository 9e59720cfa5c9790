#pragma once

#include <string>
#include <vector>

#include "results/tuning.h"
#include "tasks/tune.h"

namespace assay::tasks {

// The file of a search: a line of JSON about the search, then one for each route.
class TuneCache {
 public:
  // `path` empty: nothing is written. Where the search goes on, the routes of the file are read; otherwise a new one is
  // begun. Error (parse) for another file; Error (usage) for one of another model.
  TuneCache(const TuneRequest& request, std::string path);

  // Facts that an earlier search knows of a route; null: none.
  const results::TunedRoute* find(const std::string& route) const;
  // Adds a line.
  void add(const results::TunedRoute& route);

 private:
  void begin(const TuneRequest& request);
  void read(const TuneRequest& request);

  std::string path_;
  std::vector<results::TunedRoute> known_;
};

}  // namespace assay::tasks
