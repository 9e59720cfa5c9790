#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace assay::cases {

// What a backend is known to do otherwise than the cases say, so that both a new difference and one that is gone are
// seen. A file of it lies beside the folders of cases and has lines `because REASON`, each followed by lines
// `  GROUP/FILE.case RUN RUN ...`. After `sometimes because REASON`, for what depends on the machine, the runs may
// pass; after `not run because REASON`, for what would end the program, they are not run. FILE and RUN may have shell
// wildcards; the first that fits a run counts. `#` begins a comment.
class KnownFailures {
 public:
  KnownFailures() = default;
  // Error (io, parse) if it cannot be read, or if there is no such file of cases.
  explicit KnownFailures(const std::filesystem::path& path);

  enum class Kind { none, always, sometimes, not_run };
  // How this run of this case file is known to fail; notes that it was asked for.
  Kind find(const std::filesystem::path& case_file, const std::string& run);
  // What is listed, but was first to fit no run that was asked for, though all its files were.
  std::vector<std::string> stale() const;

 private:
  struct Entry {
    Kind kind;
    std::string files;
    std::string runs;
    std::set<std::string> unseen_files;
    bool is_used = false;
  };
  void add(Kind kind, const std::filesystem::path& folder, const std::vector<std::string_view>& words);

  std::vector<Entry> entries_;
};

}  // namespace assay::cases
