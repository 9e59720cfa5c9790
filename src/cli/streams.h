#pragma once

#include <cstdio>

#include "base/log.h"

namespace assay::cli {

// Puts /dev/null in the place of standard streams that the caller closed, so that no file of ours gets their number.
void open_missing_streams();

// Flushes the stream. If its text could not be written, says so and returns the status of an io error; a reader that
// went away (as `head` does) is none. Otherwise returns `status`.
int finish_stream(std::FILE* stream, int status, Log& log);
// The same for the log's file.
int finish_log(int status, Log& log);

}  // namespace assay::cli
