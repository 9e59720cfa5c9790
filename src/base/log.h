#pragma once

#include <cstdio>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace assay {

// Severities of a message, lowest first; the numbers are those that users of the peer's options know.
enum class LogLevel {
  ultra_verbose = -20,
  super_verbose = -10,
  extra_verbose = 0,
  verbose = 10,
  info = 20,
  start = 22,
  finish = 28,
  warning = 30,
  error = 40,
  critical = 50,
};

// Selection and layout of messages; the logging options of a command set these.
struct LogOptions {
  LogLevel level = LogLevel::info;
  // source folder or file (as `onnx` or `onnx/import.cpp`) -> level; the longest prefix that fits wins over `level`
  std::vector<std::pair<std::string, LogLevel>> levels_by_path;
  bool timestamps = false;
  bool line_info = false;
  bool colors = false;
  bool text_to_stderr = false;  // standard output belongs to a report
  bool all_to_stdout = false;   // warnings and errors, too; not what is critical
  std::string file;             // copy of all messages; empty: none
};

// Writes messages for people: `[I] ` prefix, indent, aligned continuation lines, no control characters but line breaks.
// Results (info, start, finish) go to standard output, everything else to standard error. Owns nothing global; commands
// get it from their Environment.
class Log {
 public:
  Log(std::FILE* out, std::FILE* err);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Opens the log file if one is asked for; an Error (io) if that fails, (usage) if it would overwrite what is not
  // text.
  void configure(LogOptions options);
  // Error (io) if not everything could be written to it.
  void close_file();

  using Where = std::source_location;
  void verbose(std::string_view text, Where where = Where::current()) { write(LogLevel::verbose, text, where); }
  void info(std::string_view text, Where where = Where::current()) { write(LogLevel::info, text, where); }
  void start(std::string_view text, Where where = Where::current()) { write(LogLevel::start, text, where); }
  void finish(std::string_view text, Where where = Where::current()) { write(LogLevel::finish, text, where); }
  void warning(std::string_view text, Where where = Where::current()) { write(LogLevel::warning, text, where); }
  void error(std::string_view text, Where where = Where::current()) { write(LogLevel::error, text, where); }
  void critical(std::string_view text, Where where = Where::current()) { write(LogLevel::critical, text, where); }
  // Lines that explain an error which is still to be told, as a script's traceback; print_details() prints them below.
  void keep_details(std::string_view text) { details_ += text; }
  void print_details();
  void write(LogLevel level, std::string_view text, Where where = Where::current());
  // A PASSED or FAILED line: a result on standard output either way, of level finish or error.
  void verdict(bool passed, std::string_view text, Where where = Where::current());
  // A line that belongs to the result of a command, on standard output whatever its level.
  void report(LogLevel level, std::string_view text, Where where = Where::current());
  // The result that a command is asked for: looks like info, and is also printed where only `start` is (-q).
  void result(std::string_view text, Where where = Where::current());
  // A result without a prefix, for other programs, on standard output wherever other lines go.
  void plain(std::string_view text, Where where = Where::current());

  // Shows the progress of work, on a terminal only, until the next message or status. An empty text clears it.
  void status(std::string_view text);

  // True if a message of this level from this place would be printed; asked before costly text is made.
  bool enabled(LogLevel level, Where where = Where::current()) const;

  // While it lives, messages are indented by one more step of four blanks.
  class [[nodiscard]] Indent {
   public:
    explicit Indent(Log& log) : log_(log) { ++log_.indent_; }
    ~Indent() { --log_.indent_; }
    Indent(const Indent&) = delete;
    Indent& operator=(const Indent&) = delete;

   private:
    Log& log_;
  };

 private:
  void put_line(LogLevel level, std::string_view text, Where where, bool is_result, bool is_certain = false);
  void put_text(std::string line, std::string_view color, bool is_result);

  std::FILE* out_;
  std::FILE* err_;
  std::FILE* file_ = nullptr;
  LogOptions options_;
  int indent_ = 0;
  std::string details_;
  bool has_status_ = false;
};

}  // namespace assay
