#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "results/sweep.h"

namespace assay::sweep {

// One file of a journal, which one worker appends to: JSON lines, the first of which says the version.
class JournalWriter {
 public:
  explicit JournalWriter(std::filesystem::path path) : path_(std::move(path)) {}
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // One write and one fsync. Error (limit): there is no room; what was recorded before stays valid.
  void add(const results::SweepUnit& unit);

 private:
  void open_file();
  void put(std::string_view text);

  std::filesystem::path path_;
  int file_ = -1;
};

struct Journal {
  std::map<std::string, results::SweepUnit> units;  // by key: the first complete record of each
  uint64_t torn_lines = 0;
};

// Reads all files of a journal in the order of their names. Lines that are not whole are left out, and counted. Error
// (unsupported) for a file of another version.
Journal read_journal(const std::filesystem::path& folder);

// Puts these units, in this order, in the place of all files of a journal.
void replace_journal(const std::filesystem::path& folder, const std::vector<const results::SweepUnit*>& units);

// A record as one line, with its line break.
std::string journal_line(const results::SweepUnit& unit);
// A record of such a line. Error (parse).
results::SweepUnit parse_record(std::string_view line);

}  // namespace assay::sweep
