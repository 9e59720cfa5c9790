#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::cases {

// What a backend is known to do otherwise than the cases say, so that both a new difference and one that is gone are
// seen. A file of it has lines `because REASON`, each followed by lines `  GROUP/FILE.case RUN RUN ...`. After
// `sometimes because REASON`, for what depends on the machine, the runs may pass. `#` begins a comment.
class KnownFailures {
 public:
  KnownFailures() = default;
  // Error (io, parse) if it cannot be read.
  explicit KnownFailures(const std::filesystem::path& path);

  enum class Kind { none, always, sometimes };
  // Whether this run of this case file is known to fail; notes that it was asked for.
  Kind find(const std::filesystem::path& case_file, const std::string& run);
  // Runs that are listed for files that were asked for, but were not asked for themselves.
  std::vector<std::string> missing() const;

 private:
  std::map<std::string, std::map<std::string, Kind>> runs_;  // by file
  std::map<std::string, std::set<std::string>> seen_;
};

}  // namespace assay::cases
