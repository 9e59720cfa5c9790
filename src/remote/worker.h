#pragma once

namespace assay::remote {

// `assay --worker FD`: answers the messages that come over the socket until its other side is closed: probes backends,
// makes one session, runs it. Prints nothing. Returns the exit status.
int serve(int socket);

}  // namespace assay::remote
