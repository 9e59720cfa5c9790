#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"

namespace assay::cli {

// All that a command may touch of the outside: nothing global is reached, so tests run commands in process.
struct Environment {
  std::string program;       // the word the user typed, without its folder
  std::string command_line;  // all words, joined by single blanks
  std::FILE* in;
  std::FILE* out;
  std::FILE* err;
  Log& log;
  std::vector<std::shared_ptr<const void>> kept = {};  // need not be freed before the process ends
};

}  // namespace assay::cli
