#pragma once

#include <filesystem>
#include <memory>

#include "base/files.h"
#include "tensor/named.h"

namespace assay::formats {

// A .safetensors file: a JSON header, then the elements of all tensors. Its `__metadata__` is not kept.
bool starts_as_safetensors(Bytes bytes);
tensor::NamedData read_safetensors(const std::shared_ptr<const MappedFile>& file);
// Error (usage) for types that the format does not have: strings, complex128, and integers narrower than a byte.
void write_safetensors(const std::filesystem::path& path, const tensor::NamedData& tensors);

}  // namespace assay::formats
