#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "cli/reports.h"

namespace assay::cli {

// Everything a command may use outside itself. Nothing global is used, so tests run commands in process.
struct Environment {
  std::string program;       // the name typed by the user, without its folder
  std::string command_line;  // all words, joined by single spaces
  std::FILE* in;
  std::FILE* out;
  std::FILE* err;
  Log& log;
  Reports reports = {};
  std::vector<std::shared_ptr<const void>> kept = {};  // not freed before the process ends
};

}  // namespace assay::cli
