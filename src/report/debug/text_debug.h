#pragma once

#include <string>
#include <vector>

#include "results/debug.h"

namespace assay::report {

// Lines about one round of a debugging loop.
std::string iteration_begin_line(const results::DebugIteration& iteration, std::optional<uint64_t> remaining);
std::string iteration_end_line(const results::DebugIteration& iteration);
// Doubts that a verdict does not show: a check that was ended, one that does not always agree with itself, an iteration
// that could not be made.
std::vector<std::string> iteration_doubts(const results::DebugIteration& iteration, const results::CheckOutput& output);
// The text that a check wrote to a stream; the middle of very much is left out.
std::string captured_text(std::string_view stream, std::string_view text);
// The line that ends a loop.
std::string loop_summary(const results::DebugLoop& loop);

// The findings, in lines.
std::vector<std::string> reduce_lines(const results::ReduceReport& report);
// The text beside a reduced model for somebody else; `words`: the command that shows it, if there is one.
std::string reproducer_text(const results::ReduceReport& report, std::string_view words, std::string_view command,
                            std::string_view versions);

}  // namespace assay::report
