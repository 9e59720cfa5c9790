#include "sweep/sqlite.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/shared_library.h"
#include "base/text.h"

namespace assay::sweep {
namespace {

// The part of SQLite's stable interface that is called.
constexpr int kOk = 0;
constexpr int kFull = 13;
constexpr int kDone = 101;
constexpr int kReadWriteCreate = 6;
constexpr intptr_t kCopied = -1;  // SQLITE_TRANSIENT

struct Sqlite {
  int (*open)(const char* path, void** file, int flags, const char* system);
  int (*close)(void* file);
  int (*exec)(void* file, const char* words, void* callback, void* argument, char** message);
  int (*prepare)(void* file, const char* words, int size, void** statement, const char** rest);
  int (*bind_int64)(void* statement, int place, int64_t value);
  int (*bind_double)(void* statement, int place, double value);
  int (*bind_text)(void* statement, int place, const char* text, int size, intptr_t destructor);
  int (*bind_null)(void* statement, int place);
  int (*step)(void* statement);
  int (*reset)(void* statement);
  int (*finalize)(void* statement);
  const char* (*message)(void* file);
  const char* (*text_of)(int result);
};

SharedLibrary open_library() {
  try {
    return SharedLibrary::open("libsqlite3.so.0");
  } catch (const Error& error) {
    fail(ErrorCode::unsupported, "SQLite is not here: {}; the package libsqlite3-0 has it", error.line());
  }
}

Sqlite load_sqlite() {
  const SharedLibrary library = open_library();
  Sqlite functions{};
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.find(name));
    if (function == nullptr) fail(ErrorCode::unsupported, "the SQLite library has no `{}`", name);
  };
  find(functions.open, "sqlite3_open_v2");
  find(functions.close, "sqlite3_close");
  find(functions.exec, "sqlite3_exec");
  find(functions.prepare, "sqlite3_prepare_v2");
  find(functions.bind_int64, "sqlite3_bind_int64");
  find(functions.bind_double, "sqlite3_bind_double");
  find(functions.bind_text, "sqlite3_bind_text");
  find(functions.bind_null, "sqlite3_bind_null");
  find(functions.step, "sqlite3_step");
  find(functions.reset, "sqlite3_reset");
  find(functions.finalize, "sqlite3_finalize");
  find(functions.message, "sqlite3_errmsg");
  find(functions.text_of, "sqlite3_errstr");
  return functions;
}

const Sqlite& sqlite() {
  static const Sqlite functions = load_sqlite();
  return functions;
}

}  // namespace

SqliteFile::SqliteFile(const std::filesystem::path& path) : path_(path) {
  check(sqlite().open(path.c_str(), &file_, kReadWriteCreate, nullptr));
}

SqliteFile::~SqliteFile() {
  if (statement_ != nullptr) sqlite().finalize(statement_);
  sqlite().close(file_);
}

void SqliteFile::run(const char* words) { check(sqlite().exec(file_, words, nullptr, nullptr, nullptr)); }

void SqliteFile::prepare(const std::string& table, size_t columns) {
  if (statement_ != nullptr) sqlite().finalize(statement_);
  statement_ = nullptr;
  std::string places = "?";
  for (size_t i = 1; i < columns; ++i) places += ",?";
  const std::string words = fmt::format("INSERT INTO {} VALUES ({})", table, places);
  check(sqlite().prepare(file_, words.c_str(), -1, &statement_, nullptr));
  table_ = table;
}

void SqliteFile::insert(const std::string& table, const std::vector<SqlValue>& values) {
  if (table != table_) prepare(table, values.size());
  for (size_t i = 0; i < values.size(); ++i) bind(static_cast<int>(i + 1), values[i]);
  const int result = sqlite().step(statement_);
  check(result == kDone ? kOk : result);
  sqlite().reset(statement_);
}

void SqliteFile::bind(int place, const SqlValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value))
    check(sqlite().bind_int64(statement_, place, *number));
  else if (const auto* real = std::get_if<double>(&value))
    check(sqlite().bind_double(statement_, place, *real));
  else if (const auto* text = std::get_if<std::string>(&value))
    check(sqlite().bind_text(statement_, place, text->c_str(), static_cast<int>(text->size()), kCopied));
  else
    check(sqlite().bind_null(statement_, place));
}

void SqliteFile::check(int result) const {
  if (result == kOk) return;
  fail(result == kFull ? ErrorCode::limit : ErrorCode::io, "`{}` cannot be written: {}", printable(path_.string()),
       file_ == nullptr ? sqlite().text_of(result) : sqlite().message(file_));
}

}  // namespace assay::sweep
