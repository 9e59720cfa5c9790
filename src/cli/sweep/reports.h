#pragma once

#include "base/log.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "results/sweep.h"

namespace assay::cli {

// `--report`, `--junit`, `--save-csv`, `--save-sqlite`.
OptionGroup sweep_report_group();
// Says of each worst sample by what command it is repeated.
void add_commands(results::SweepReport& report);
void print_sweep(const results::SweepReport& report, Log& log);
// Writes the reports that the options above and `--json` name.
void write_sweep_reports(const results::SweepReport& report, const Arguments& arguments, Environment& environment);
// The exit status. `is_share`: what is still to do is done by others.
int sweep_status(const results::SweepReport& report, bool is_share = false);
std::string_view sweep_word(int status);
// The folder of a sweep.
OptionRow sweep_folder_row();

}  // namespace assay::cli
