#pragma once

#include <memory>

#include "base/files.h"
#include "formats/json/json_reader.h"
#include "tensor/tensor.h"

namespace assay::formats {

// The array whose JSON object comes next in `reader`, which reads the bytes of `file`: ndarray (base64 or latin-1 of an
// .npy or .npz), LazyArray, FormattedArray, and their legacy forms. Base64 is decoded when the elements are accessed.
tensor::Tensor read_peer_array(JsonReader& reader, const std::shared_ptr<const MappedFile>& file);

// Takes a key that names the class of an object, in the peer's new or legacy spelling; its value is read.
bool read_peer_class(JsonReader& reader, std::string_view key, std::string& class_name);

}  // namespace assay::formats
