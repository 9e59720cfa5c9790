#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::results {

// The outcome of a unit of a sweep.
enum class UnitStatus : uint8_t { same, differs, refused, died, timeout, memory, bad_input, cancelled };
inline constexpr std::array<std::string_view, 8> kUnitStatuses = {"same",    "differs", "refused",   "died",
                                                                  "timeout", "memory",  "bad_input", "cancelled"};

// The difference of outputs from those of the reference, over the samples of a unit or of several.
struct UnitDifference {
  uint64_t compared = 0;  // samples
  uint64_t failed = 0;    // samples beyond the tolerances
  double max_abs = 0;
  double max_rel = 0;
  double least_cosine = 1;
  uint64_t sample = 0;  // with the greatest absolute difference, and its output
  std::string output;
  std::string op;                        // gives this output
  std::map<std::string, uint64_t> bins;  // samples by the power of two of their greatest difference
};

using Evidence = std::vector<std::vector<double>>;  // a row of numbers for each sample

// One unit: a model in a variant, on a side, over a shard of the data.
struct SweepUnit {
  std::string key;
  std::string model;
  std::string variant;
  std::string side;
  uint64_t shard = 0;
  UnitStatus status = UnitStatus::same;
  std::string signature;                                // groups units that failed for the same reason
  std::string reason;                                   // the whole line
  std::vector<std::pair<std::string, double>> metrics;  // of this shard
  double seconds = 0;
  uint64_t samples = 0;
  uint64_t first_sample = 0;
  std::optional<UnitDifference> difference;
  std::optional<uint64_t> worst_sample;
  std::string worst_file;                                  // inputs of the worst sample, below the folder of the sweep
  std::vector<std::pair<std::string, Evidence>> evidence;  // by metric
};

// A file of the journal begins with this.
struct JournalHead {
  std::string schema;
  std::string version;
};

struct PlannedModel {
  std::string path;
  std::string digest;  // of its bytes and those of its external data
};

// A variant of each model on a side.
struct PlannedColumn {
  std::string variant;
  std::string side;
  std::string version;  // of the side's library
};

// Samples [begin, end) of the data.
struct PlannedShard {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string digest;
  std::string failure;  // the reason why these samples cannot be read
};

// All that a sweep is made of, as it is kept in its folder.
struct SweepPlan {
  std::string schema;
  std::string version;             // of Assay
  std::string folder;              // in which the command was given
  std::vector<std::string> words;  // of the command
  std::string options;             // settings that decide results
  std::string machine;             // class of the machine, if times are results
  std::string data;                // the source of samples
  double share = 100;              // percent of models and shards that are run
  std::vector<std::string> metrics;
  std::vector<PlannedModel> models;
  std::vector<PlannedColumn> columns;
  std::vector<PlannedShard> shards;
  std::vector<std::string> files;  // of samples
  std::vector<int64_t> labels;     // of pictures; -1: none
};

// Units that failed for one reason.
struct SweepCause {
  UnitStatus status = UnitStatus::refused;
  std::string signature;
  uint64_t count = 0;
  std::vector<std::string> models;
  std::string example;  // the whole line of one
};

// One model in a variant on a side, over all shards.
struct SweepRow {
  std::string model;
  std::string variant;
  std::string side;
  UnitStatus status = UnitStatus::same;  // the worst of its units
  uint64_t unit_count = 0;
  uint64_t done_count = 0;
  uint64_t samples = 0;
  double seconds = 0;
  std::optional<UnitDifference> difference;
};

// A metric of a row beside that of the reference on the same samples.
struct PairedScore {
  std::string variant;
  std::string side;
  double difference = 0;  // from the reference's score
  double low = 0;         // of 95 % of the bootstrap
  double high = 0;
  std::optional<double> p_value;  // sign test, of metrics with a number for each sample
};

struct SweepScore {
  std::string name;
  std::string model;
  std::string variant;
  std::string side;
  uint64_t samples = 0;
  double value = 0;
  double low = 0;  // of 95 % of the bootstrap
  double high = 0;
  std::optional<PairedScore> paired;
};

struct SweepWorst {
  std::string model;
  std::string variant;
  std::string side;
  uint64_t sample = 0;
  std::string output;
  double max_abs = 0;
  std::string file;     // inputs of the sample
  std::string command;  // that repeats it
};

// A row that is another than in an older sweep.
struct SweepChange {
  std::string model;
  std::string variant;
  std::string side;
  std::string what;  // `status`, or a metric
  std::string before;
  std::string after;
  bool is_worse = false;
};

struct SweepReport {
  std::string folder;
  uint64_t unit_count = 0;
  uint64_t pending_count = 0;
  uint64_t torn_lines = 0;
  std::vector<SweepUnit> units;
  std::vector<std::pair<std::string, uint64_t>> by_status;
  std::vector<SweepRow> rows;
  std::vector<SweepCause> causes;
  std::vector<SweepScore> metrics;
  std::vector<SweepWorst> worst;
  std::string against;  // the older sweep
  std::vector<SweepChange> changes;
  std::vector<std::pair<std::string, double>> timings;
};

struct SweepStatus {
  std::string folder;
  bool is_running = false;
  uint64_t unit_count = 0;
  uint64_t done_count = 0;
  uint64_t pending_count = 0;
  uint64_t torn_lines = 0;
  double unit_seconds = 0;  // of all units done
  std::vector<std::pair<std::string, uint64_t>> by_status;
  std::vector<std::pair<std::string, double>> timings;
};

}  // namespace assay::results
