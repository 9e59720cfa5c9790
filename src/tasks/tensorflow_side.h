#pragma once

#include <memory>
#include <string_view>

#include "exec/backend.h"
#include "tasks/load.h"

namespace assay::tasks {

// True for TensorFlow as the side of a model of TensorFlow, whose file it reads in the place of a plan.
bool reads_file_itself(const ModelSource& model, std::string_view backend);
// The choice among signatures and outputs, for those that read the model themselves.
void set_choice(const ModelSource& model, exec::Settings& settings);

// A session of such a side.
std::unique_ptr<exec::Session> open_file(const exec::Backend& backend, const ModelSource& model,
                                         exec::SessionOptions options, Diagnostics& findings);

}  // namespace assay::tasks
