#pragma once

#include <filesystem>
#include <memory>

#include "base/files.h"
#include "tensor/named.h"

namespace assay::formats {

// NumPy's .npz: a zip archive of .npy files. Types that NumPy does not have are stored as raw bits, with a member
// `<name>.assay_dtype` beside them, a string as `bfloat16` or `int4[2,3]`.
tensor::NamedData read_npz(const std::shared_ptr<const MappedFile>& file);
// The first array of an archive.
tensor::Tensor first_npz_array(const std::shared_ptr<const MappedFile>& file);
void write_npz(const std::filesystem::path& path, const tensor::NamedData& arrays);

}  // namespace assay::formats
