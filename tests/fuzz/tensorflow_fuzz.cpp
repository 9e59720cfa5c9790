// Bytes read as a TFLite file, a frozen graph, a SavedModel and an index of variables, and imported as the first two.
// Only Error may come out.
#include "base/error.h"
#include "tensorflow/import/import.h"
#include "tensorflow/read.h"

namespace {

using namespace assay;

template <typename Fn>
void try_reading(Fn&& read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.line().empty() || error.line().find_first_of("\n\r") != std::string::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  try_reading([&] { tensorflow::read_tflite(bytes); });
  try_reading([&] { tensorflow::read_frozen_graph(bytes); });
  try_reading([&] { tensorflow::read_saved_model(bytes); });
  try_reading([&] { tensorflow::import_tflite(MappedFile::from_bytes(bytes, "bytes"), {}); });
  try_reading([&] { tensorflow::import_graph(MappedFile::from_bytes(bytes, "bytes"), {}); });
  try_reading([&] {
    results::TensorFlowListing listing;
    tensorflow::read_variables(bytes, listing);
  });
  return 0;
}
