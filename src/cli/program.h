#pragma once

#include <functional>
#include <span>
#include <string>

#include "cli/environment.h"
#include "cli/options/spec.h"

namespace assay::cli {

// The program: finds the command that the words name, checks all words, runs it. Errors become one line on standard
// error. Returns the exit status.
int run_words(std::span<const std::string> words, Environment& environment);

// Parts of run_words: runs one command with the words after its name; turns an exception into a line and an exit
// status.
int run_command(const Command& command, std::span<const std::string> words, Environment& environment);
int run_guarded(const std::function<int()>& work, Log& log);

// Runs the program with the process's own streams and signals; standard output is flushed and checked at the end.
int run_program(int argc, char** argv);

}  // namespace assay::cli
