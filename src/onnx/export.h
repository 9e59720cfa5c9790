#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/model.h"
#include "onnx/export/header.h"
#include "onnx/export/tensor.h"
#include "tensor/named.h"

namespace assay::onnx {

// Facts in a written model besides the model itself.
struct Additions {
  std::vector<ir::ValueId> outputs;  // values of the main graph that become outputs behind its own
  Versions versions;
};

struct SaveOptions {
  // Put weights of more than `threshold` bytes into this file beside the model.
  std::optional<std::string> external_name;
  uint64_t threshold = 1024;
  uint64_t alignment = 4096;
  bool one_file = true;
  // A file that would be larger than this gets external data though nobody asked: no reader of ONNX accepts it.
  uint64_t single_file_limit = (uint64_t{1} << 31) - 1;
  // The folder of the external data that the model was loaded with; empty: beside the file that it came from.
  std::filesystem::path external_folder;
  Additions additions;
};

struct SaveReport {
  std::string external_name;  // of the file that holds weights; empty: none was written
  uint64_t external_bytes = 0;
};

// Writes a model. One that was not edited keeps its bytes; of an edited one, all that was not touched keeps its bytes.
// Model and data appear under their names only when they are complete. Error (usage) where one of them would take the
// place of weights that the model, or the one that it was loaded from, still needs.
SaveReport save(const ir::Model& model, const std::filesystem::path& path, const SaveOptions& options = {});

// Saves in two steps, for files that appear together or not at all: written beside their places, then named.
class PendingSave {
 public:
  PendingSave(const ir::Model& model, const std::filesystem::path& path, const SaveOptions& options);
  PendingSave(PendingSave&&) noexcept;
  ~PendingSave();
  const SaveReport& report() const { return report_; }
  void commit();

 private:
  struct Files;
  std::unique_ptr<Files> files_;
  SaveReport report_;
};

// A model as bytes in memory.
struct EncodedModel {
  std::vector<std::byte> bytes;
  tensor::NamedData detached;
};

struct EncodeOptions {
  // Initializers of the main graph that are larger are not copied: they are listed, and the bytes refer to them as data
  // in a file that does not exist.
  std::optional<uint64_t> detach_above_bytes;
  // Leaves data in files beside the model there, for a reader that is told the folder; otherwise it is copied.
  bool keeps_external = false;
  Additions additions;
};

// Error (limit) if the bytes would be more than any reader of ONNX accepts.
EncodedModel encode(const ir::Model& model, const EncodeOptions& options = {});

}  // namespace assay::onnx
