#pragma once

#include <memory>

#include "backends/openvino/ov_library.h"
#include "exec/backend.h"

namespace assay::backends::ov {

// A session of the library on a model. What is asked for besides the outputs becomes an output too.
std::unique_ptr<exec::Session> make_session(const Library& library, const ir::Model& model,
                                            const exec::SessionOptions& options);

}  // namespace assay::backends::ov
