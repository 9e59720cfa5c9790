#pragma once

namespace assay::tasks {

// The process that runs one side of an isolated run: answers what comes over the socket until its other side is closed.
// Gives the exit status.
int serve_worker(int socket);

}  // namespace assay::tasks
