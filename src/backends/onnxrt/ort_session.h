#pragma once

#include <memory>

#include "backends/onnxrt/ort_library.h"
#include "base/diagnostics.h"
#include "exec/backend.h"

namespace assay::backends::ort {

// A session of the library on a model. Where the model's file is as the model is, the library reads it; otherwise it
// gets the model from memory, large weights without a copy of ours, external data from where they lie. A model that is
// newer than the library reads is handed over as an older one where it needs nothing of the newer, which `findings`
// says.
std::unique_ptr<exec::Session> make_session(const Library& library, const ir::Model& model,
                                            const exec::SessionOptions& options, Diagnostics& findings);

}  // namespace assay::backends::ort
