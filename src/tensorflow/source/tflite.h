#pragma once

#include <memory>
#include <string>

#include "base/files.h"
#include "tensorflow/source/model.h"

namespace assay::tensorflow {

// The model in a TFLite file; its constants stay in the file. A signature, if one is named, names inputs and outputs.
// Error (parse): the file is damaged; (usage): it has no such signature.
SourceModel read_tflite_source(const std::shared_ptr<const MappedFile>& file, const std::string& signature);

}  // namespace assay::tensorflow
