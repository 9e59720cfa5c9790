#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/html/frame.h"
#include "report/junit.h"

namespace assay::cli {

class Arguments;
struct Command;
struct Environment;

// The reports of a call: files that `--json`, `--junit` and `--report` name. Of several models they are kept until all
// have been seen.
struct Reports {
  bool are_kept = false;
  std::vector<std::string_view> made;  // options whose report of the current model there is
  std::vector<std::string> json;
  std::vector<report::JunitSuite> junit;
};

// True if the command has the option and it is given.
bool wants_report(const Arguments& arguments, std::string_view option);

// Writes or keeps the report of one model. `--json -` is standard output.
void write_json(const Arguments& arguments, Environment& environment, std::string text);
void write_junit(const Arguments& arguments, Environment& environment, report::JunitSuite suite);
void write_page(const Arguments& arguments, Environment& environment, std::string_view html);
report::PageFacts page_facts(const Environment& environment);

// Writes those reports that an error has kept the command from making: they hold its line and the exit status. They
// never throw: the error is what matters.
void write_failure(const Command& command, const Arguments& arguments, Environment& environment, std::string_view line,
                   int status);
// Writes what was kept of several models.
void write_kept(const Command& command, const Arguments& arguments, Environment& environment, int status,
                double seconds);

}  // namespace assay::cli
