#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace assay::sweep {

using SqlValue = std::variant<std::monostate, int64_t, double, std::string>;

// A new file of SQLite, whose library is opened at run time (libsqlite3.so.0). Error (unsupported): there is none;
// Error (io, limit): the file cannot be written.
class SqliteFile {
 public:
  explicit SqliteFile(const std::filesystem::path& path);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  void run(const char* words);
  // A row of a table, with all its columns.
  void insert(const std::string& table, const std::vector<SqlValue>& values);

 private:
  void prepare(const std::string& table, size_t columns);
  void bind(int place, const SqlValue& value);
  void check(int result) const;

  std::filesystem::path path_;
  void* file_ = nullptr;
  void* statement_ = nullptr;
  std::string table_;  // of the statement
};

}  // namespace assay::sweep
