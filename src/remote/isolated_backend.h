#pragma once

#include <filesystem>
#include <string>

#include "exec/backend.h"
#include "remote/remote_process.h"
#include "remote/session_messages.h"

namespace assay::remote {

struct IsolationOptions {
  std::string backend;
  double timeout_seconds = 0;          // for preparing, for each value and for the end of a run; 0: none
  std::filesystem::path program = {};  // started as `PROGRAM --worker FD`; empty: worker_program()
};

// The program `assay` that belongs to this library, which may be loaded by any other; an Error where there is none.
std::filesystem::path worker_program();
// That of a library at this path.
std::filesystem::path worker_program_of(const std::filesystem::path& library);

// A backend by name, in a process of its own for each session. Its own errors stay what they are; its death is an Error
// (backend), a hang an Error (limit). SessionOptions::max_memory_bytes also limits the data of the process, with 1 GiB
// more for what libraries need themselves. The model is sent as its path, otherwise as bytes.
exec::BackendPtr isolated_backend(IsolationOptions options);

// A session in a process that answers as a worker does: of a model, or of none where `options` name a plan's path.
std::unique_ptr<exec::Session> worker_session(std::unique_ptr<RemoteProcess> worker, const ir::Model* model,
                                              const PrepareRequest& request, Diagnostics& findings);

// Asks such a process, of a model or a plan, for layers, or for what of the model is refused.
Listing worker_listing(RemoteProcess& worker, const ir::Model* model, const PrepareRequest& request,
                       Diagnostics& findings);
std::vector<RefusedPlace> worker_refusals(RemoteProcess& worker, const ir::Model& model, const PrepareRequest& request);

// The backend of that name, usable here or not: isolated if it uses a library, which may crash in this process.
exec::BackendPtr safe_backend(const std::string& name, const exec::LibrarySearch& search);

}  // namespace assay::remote
