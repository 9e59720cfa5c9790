#pragma once

namespace assay::tasks {

// Runs one side of an isolated run in this process: answers messages from the socket until the other end is closed.
// Returns the exit status.
int serve_worker(int socket);

}  // namespace assay::tasks
