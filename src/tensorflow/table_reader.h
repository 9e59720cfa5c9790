#pragma once

#include <string>

#include "base/files.h"
#include "base/function_ref.h"

namespace assay::tensorflow {

// Walks a sorted table in the format of LevelDB, in which checkpoints keep what they have. Error (parse): it is
// damaged; (unsupported): it is compressed.
void read_table(Bytes file, FunctionRef<void(const std::string& key, Bytes value)> entry);

}  // namespace assay::tensorflow
