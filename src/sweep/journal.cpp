#include "sweep/journal.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "formats/json/field_reader.h"
#include "formats/json/field_writer.h"
#include "results/fields/sweep.h"
#include "sweep/folder.h"
#include "sweep/versions.h"

namespace assay::sweep {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".jsonl";

// JSON of several lines in one: no text in it holds a line break.
std::string one_line(const std::string& json) {
  std::string line;
  bool is_indent = false;
  for (const char c : json) {
    if (c == '\n') is_indent = true;
    if (is_indent && (c == '\n' || c == ' ')) continue;
    is_indent = false;
    line += c;
  }
  return line + '\n';
}

std::string head_line() {
  return one_line(formats::json_text(results::JournalHead{std::string(kJournalSchema), ASSAY_VERSION}));
}

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  fail(is_full ? ErrorCode::limit : ErrorCode::io, "the journal `{}` cannot be written: {}{}", printable(path.string()),
       errno_text(error), is_full ? "; what is recorded stays, and the same command goes on from there" : "");
}

bool ends_torn(int file) {
  const off_t size = lseek(file, 0, SEEK_END);
  char last = '\n';
  return size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(journal_folder(folder), error)) {
    if (entry.path().extension() == kSuffix) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// False for a line that is no whole record.
bool add_line(std::string_view line, Journal& journal) {
  try {
    results::SweepUnit unit = parse_record(line);
    if (unit.key.empty()) return false;
    std::string key = unit.key;
    journal.units.try_emplace(std::move(key), std::move(unit));
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool check_head(std::string_view line, const fs::path& path) {
  results::JournalHead head;
  try {
    head = formats::read_report<results::JournalHead>(line);
  } catch (const Error&) {
    return false;
  }
  check_version(head.schema, kJournalSchema, path.string());
  return true;
}

void read_file(const fs::path& path, Journal& journal) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  std::string_view rest(reinterpret_cast<const char*>(file->bytes().data()), file->size());
  for (bool is_first = true; !rest.empty(); is_first = false) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    const bool is_whole = end != std::string_view::npos;
    rest.remove_prefix(is_whole ? end + 1 : rest.size());
    const bool is_read = is_whole && (is_first ? check_head(line, path) : add_line(line, journal));
    if (!is_read) ++journal.torn_lines;
  }
}

}  // namespace

std::string journal_line(const results::SweepUnit& unit) { return one_line(formats::json_text(unit)); }

results::SweepUnit parse_record(std::string_view line) { return formats::read_report<results::SweepUnit>(line); }

JournalWriter::~JournalWriter() {
  if (file_ >= 0) close(file_);
}

void JournalWriter::open_file() {
  std::error_code error;
  fs::create_directories(path_.parent_path(), error);
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) fail_to_write(path_, errno);
  if (lseek(file_, 0, SEEK_END) == 0) put(head_line());
  if (ends_torn(file_)) put("\n");
}

void JournalWriter::put(std::string_view text) {
  const ssize_t written = ::write(file_, text.data(), text.size());
  if (written < 0) fail_to_write(path_, errno);
  if (static_cast<size_t>(written) < text.size()) fail_to_write(path_, ENOSPC);
}

void JournalWriter::add(const results::SweepUnit& unit) {
  if (file_ < 0) open_file();
  put(journal_line(unit));
  if (fsync(file_) != 0 && errno != EINVAL) fail_to_write(path_, errno);
}

Journal read_journal(const fs::path& folder) {
  Journal journal;
  for (const fs::path& path : files_of(folder)) read_file(path, journal);
  return journal;
}

void replace_journal(const fs::path& folder, const std::vector<const results::SweepUnit*>& units) {
  const std::vector<fs::path> old = files_of(folder);
  fs::create_directories(journal_folder(folder));
  const fs::path path = journal_folder(folder) / fmt::format("merged{}", kSuffix);
  OutputFile file(path);
  file.write(head_line());
  for (const results::SweepUnit* unit : units) file.write(journal_line(*unit));
  file.commit();
  for (const fs::path& other : old) {
    if (other != path) fs::remove(other);
  }
}

}  // namespace assay::sweep
