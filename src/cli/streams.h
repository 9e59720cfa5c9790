#pragma once

#include <cstdio>

#include "base/log.h"

namespace assay::cli {

// Opens /dev/null for standard streams that the caller closed, so that no other file gets their descriptors.
void open_missing_streams();

// Flushes the stream. If it cannot be written, prints an error and returns the status of an io error, except if the
// reader has gone away (as `head` does). Otherwise returns `status`.
int finish_stream(std::FILE* stream, int status, Log& log);
// Finishes the log's file in the same way.
int finish_log(int status, Log& log);

}  // namespace assay::cli
