#pragma once

#include "backends/onnxrt/ort_library.h"
#include "exec/session.h"

namespace assay::backends::ort {

// Asks a session that is to be made to note which provider computes which node. Error (unsupported): the library is too
// old to tell.
void note_assignment(const Library& library, SessionOptions* options);

// The nodes of such a session by the providers that compute them, in the library's order.
std::vector<exec::AssignedNode> read_assignment(const Library& library, const Session* session);

}  // namespace assay::backends::ort
