#include "tensorflow/read.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"

namespace assay::tensorflow {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "TFL3";
constexpr uint64_t kMostShards = 100'000;

void note(results::TensorFlowListing& listing, std::string message) {
  listing.findings.push_back(
      {.severity = Severity::warning, .code = "tensorflow", .node = {}, .message = std::move(message)});
}

bool is_named_as_graph(const fs::path& path) {
  const std::string extension = to_lower(path.extension().string());
  return extension == ".pb" || extension == ".graphdef";
}

// An ONNX model begins with the number of its version, a graph with a node.
bool begins_as_onnx(Bytes bytes) {
  constexpr std::byte kVersion{0x08};
  return !bytes.empty() && bytes[0] == kVersion;
}

void add_variables(const fs::path& folder, results::TensorFlowListing& listing) {
  const fs::path index = folder / "variables.index";
  if (!is_file(index)) return;
  const uint64_t shards = read_variables(MappedFile::open(index)->bytes(), listing);
  if (shards > kMostShards) return note(listing, "the index of the variables names too many shards");
  for (uint64_t i = 0; i < shards; ++i) {
    const std::string name = fmt::format("variables.data-{:05}-of-{:05}", i, shards);
    if (!is_file(folder / name)) note(listing, fmt::format("`{}` is missing: variables have no values", name));
  }
}

results::TensorFlowListing read_folder(const fs::path& folder) {
  const fs::path file = folder / "saved_model.pb";
  results::TensorFlowListing listing = read_saved_model(MappedFile::open(file)->bytes());
  add_variables(folder / "variables", listing);
  return listing;
}

}  // namespace

bool is_tflite(Bytes bytes) {
  return bytes.size() >= 8 &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()) + 4, kMagic.size()) == kMagic;
}

fs::path saved_model_folder(const fs::path& path) {
  if (is_folder(path)) {
    if (is_file(path / "saved_model.pb")) return path;
    if (!is_file(path / "saved_model.pbtxt")) {
      fail(ErrorCode::unsupported, "the folder has no SavedModel; of checkpoints alone only TensorFlow makes a model");
    }
    fail(ErrorCode::unsupported, "a SavedModel in text form is not read: TensorFlow writes it anew");
  }
  if (path.filename() != "saved_model.pb") return {};
  return path.parent_path().empty() ? fs::path(".") : path.parent_path();
}

bool is_model(const fs::path& path) {
  if (is_folder(path)) return is_file(path / "saved_model.pb") || is_file(path / "saved_model.pbtxt");
  if (!is_file(path)) return false;
  const auto file = MappedFile::open(path);
  if (is_tflite(file->bytes()) || is_keras(file->bytes())) return true;
  return is_named_as_graph(path) && !begins_as_onnx(file->bytes());
}

results::TensorFlowListing read_model(const fs::path& path) {
  return with_frame([&] { return fmt::format("loading `{}`", printable(path.string())); },
                    [&] {
                      results::TensorFlowListing listing;
                      if (const fs::path folder = saved_model_folder(path); !folder.empty()) {
                        listing = read_folder(folder);
                      } else {
                        const auto file = MappedFile::open(path);
                        if (is_keras(file->bytes())) refuse_keras(file->bytes());
                        listing =
                            is_tflite(file->bytes()) ? read_tflite(file->bytes()) : read_frozen_graph(file->bytes());
                      }
                      listing.path = path.string();
                      return listing;
                    });
}

}  // namespace assay::tensorflow
