#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "results/tuning.h"
#include "tasks/bench.h"

namespace assay::tasks {

// A choice that building an engine leaves open. The first value is the default.
struct Knob {
  std::string name;
  std::vector<std::string> values;
  std::string help = {};
  bool is_open = false;  // other values may be given
};

// Values of some knobs, in the order of the knobs.
using Route = std::vector<std::pair<std::string, std::string>>;
// `-bf16=on -level=5`
std::string route_text(const Route& route);

// Tells a backend whose builder is a library with choices of its own, as `tensorrt`.
bool builds_foreign_engines(std::string_view backend);
// The choices of the engine, or of `tensorrt`, whose compiler has others besides, under names of its own.
std::vector<Knob> knobs_of(std::string_view backend);
// Knobs that an expression varies, `-bf16=[off|on] -level=[3|5]`, and with one value those that it fixes. Error (usage)
// for knobs and values that do not exist; those of TensorRT's compiler are known to it alone.
std::vector<Knob> parse_knobs(std::string_view expression, std::string_view backend);
// Sets what a route of a backend's knobs chooses.
void apply_route(const Route& route, exec::Settings& settings);

enum class Search {
  fast,   // one change at a time
  full,   // all values of all knobs together
  mixed,  // fast, then all together of those that were better
  greedy  // the best change stays while there is one
};

struct TuneRequest {
  BenchRequest bench;  // model, inputs, times and references
  std::vector<Knob> knobs;
  Search search = Search::fast;
  bool judges_by_reference = false;  // outputs are held against those of the reference, by `bench.references`
  std::string cache;                 // a file with a line for each route; empty: none
  bool continues = false;            // that file has routes which are not tried again
  double timeout_seconds = 0;        // of the whole search; 0: none
  bool only_lists = false;           // routes are told, not tried
  bool saves_all = false;            // the plan of each route, beside that of the best
  std::string command;               // for the cache
  // The model of a route, and the settings that it has besides; empty: that of `bench`, by apply_route().
  std::function<std::string(const Route& route, exec::Settings& settings)> choose = {};
};

// Builds and runs routes, each in turns with the defaults, and saves the plan of the best where `bench` says so.
results::Tuning tune(const TuneRequest& request, Observer& observer);

}  // namespace assay::tasks
