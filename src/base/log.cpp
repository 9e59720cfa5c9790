#include "base/log.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>

#include <unistd.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"

namespace assay {
namespace {

struct Look {
  char letter;
  std::string_view color;  // ANSI sequence; empty: the terminal's own colour
};

Look look_of(LogLevel level) {
  switch (level) {
    case LogLevel::ultra_verbose:
      return {'U', "\x1b[90m"};
    case LogLevel::super_verbose:
      return {'S', "\x1b[38;5;126m"};
    case LogLevel::extra_verbose:
      return {'X', "\x1b[38;5;98m"};
    case LogLevel::verbose:
      return {'V', "\x1b[95m"};
    case LogLevel::info:
      return {'I', ""};
    case LogLevel::start:
      return {'I', "\x1b[96m"};
    case LogLevel::finish:
      return {'I', "\x1b[92m"};
    case LogLevel::warning:
      return {'W', "\x1b[93m"};
    case LogLevel::error:
      return {'E', "\x1b[91m"};
    case LogLevel::critical:
      return {'!', "\x1b[91m"};
  }
  return {'I', ""};
}

// Path of a source file below the `src` folder.
std::string_view source_path(std::string_view file) {
  constexpr std::string_view kRoot = "src/";
  const size_t root = file.rfind("/src/");
  if (root != std::string_view::npos) return file.substr(root + 1 + kRoot.size());
  return file.starts_with(kRoot) ? file.substr(kRoot.size()) : file;
}

// True if `file` is `prefix` or lies in that folder.
bool lies_below(std::string_view file, std::string_view prefix) {
  if (prefix.ends_with('/')) prefix.remove_suffix(1);
  return file.starts_with(prefix) && (file.size() == prefix.size() || file[prefix.size()] == '/');
}

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  localtime_r(&now, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// True if the file begins with bytes that no text holds.
bool is_binary(const std::string& path) {
  if (!is_file(path)) return false;
  constexpr unsigned char kFirstOfText = '\a';  // the lowest control character that text has
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4096> begin{};
  file.read(begin.data(), begin.size());
  return std::any_of(begin.begin(), begin.begin() + file.gcount(),
                     [](char c) { return static_cast<unsigned char>(c) < kFirstOfText; });
}

std::FILE* open_log_file(const std::string& path) {
  if (path == "-") fail(ErrorCode::usage, "opening log file: `-` is no file; messages are on the standard streams");
  if (is_binary(path)) {
    fail(ErrorCode::usage, "opening log file `{}`: it is not text, and would be overwritten", printable(path));
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) fail(ErrorCode::io, "opening log file `{}`: {}", path, errno_text(errno));
  return file;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F || byte >= 0x80;
}

// The text without control characters but line breaks and tabs: what a file says must not steer a terminal.
std::string harmless(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\n\t"), text.size());
    const std::string_view piece = text.substr(0, end);
    result += std::ranges::any_of(piece, is_control) ? printable(piece) : std::string(piece);
    if (end < text.size()) result += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

bool is_terminal(std::FILE* stream) {
  const int fd = fileno(stream);
  return fd >= 0 && isatty(fd) != 0;
}

void put(std::FILE* stream, std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); }

}  // namespace

Log::Log(std::FILE* out, std::FILE* err) : out_(out), err_(err) {}

Log::~Log() {
  if (file_ != nullptr) std::fclose(file_);
}

void Log::configure(LogOptions options) {
  std::FILE* file = options.file.empty() ? nullptr : open_log_file(options.file);
  if (file_ != nullptr) std::fclose(file_);
  file_ = file;
  options_ = std::move(options);
}

void Log::close_file() {
  if (file_ == nullptr) return;
  errno = 0;
  const bool failed_before = std::ferror(file_) != 0;
  const bool failed_now = std::fclose(std::exchange(file_, nullptr)) != 0;
  if (!failed_before && !failed_now) return;
  fail(ErrorCode::io, "writing log file `{}`: {}", printable(options_.file),
       errno != 0 ? errno_text(errno) : "not everything was written");
}

bool Log::enabled(LogLevel level, Where where) const {
  LogLevel least = options_.level;
  size_t longest = 0;
  if (options_.levels_by_path.empty()) return level >= least;
  const std::string_view file = source_path(where.file_name());
  for (const auto& [prefix, path_level] : options_.levels_by_path) {
    if (prefix.size() < longest || !lies_below(file, prefix)) continue;
    longest = prefix.size();
    least = path_level;
  }
  return level >= least;
}

void Log::write(LogLevel level, std::string_view text, Where where) {
  put_line(level, text, where, level >= LogLevel::info && level <= LogLevel::finish);
}

void Log::verdict(bool passed, std::string_view text, Where where) {
  put_line(passed ? LogLevel::finish : LogLevel::error, text, where, true);
}

void Log::report(LogLevel level, std::string_view text, Where where) { put_line(level, text, where, true); }

void Log::result(std::string_view text, Where where) {
  const bool is_certain = !options_.text_to_stderr && enabled(LogLevel::start, where);
  put_line(LogLevel::info, text, where, true, is_certain);
}

void Log::put_line(LogLevel level, std::string_view text, Where where, bool is_result, bool is_certain) {
  if (!is_certain && !enabled(level, where)) return;
  const Look look = look_of(level);
  std::string line = {'[', look.letter, ']', ' '};
  if (options_.timestamps) line += fmt::format("({}) ", time_of_day());
  if (options_.line_info) {
    const std::string_view file = where.file_name();
    line += fmt::format("[{}:{}] ", file.substr(file.rfind('/') + 1), where.line());
  }
  line.append(4 * static_cast<size_t>(indent_), ' ');
  line += indent_continuation(harmless(text), line.size());
  put_text(std::move(line), look.color, is_result || (options_.all_to_stdout && level < LogLevel::critical));
}

void Log::plain(std::string_view text, Where where) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (!enabled(LogLevel::start, where)) return;
  status("");
  const std::string lines = harmless(text) + "\n";
  if (file_ != nullptr) put(file_, lines);
  put(out_, lines);
}

void Log::print_details() {
  if (!details_.empty()) error(std::exchange(details_, {}));
}

void Log::status(std::string_view text) {
  if (!is_terminal(err_) || options_.level > LogLevel::info || (text.empty() && !has_status_)) return;
  put(err_, "\r\x1b[K" + harmless(text));
  std::fflush(err_);
  has_status_ = !text.empty();
}

void Log::put_text(std::string line, std::string_view color, bool is_result) {
  is_result = is_result && !options_.text_to_stderr;
  status("");
  if (file_ != nullptr) put(file_, line + '\n');
  if (!is_result) std::fflush(out_);  // both on one terminal or in one file: keep the order
  std::FILE* const stream = is_result ? out_ : err_;
  if (options_.colors && !color.empty() && is_terminal(stream)) {
    line.insert(0, color);
    line += "\x1b[0m";
  }
  line += '\n';
  put(stream, line);
}

}  // namespace assay
