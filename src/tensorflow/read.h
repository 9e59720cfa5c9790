#pragma once

#include <filesystem>
#include <string_view>

#include "base/files.h"
#include "results/tensorflow_listing.h"

namespace assay::tensorflow {

// True for a TFLite or Keras file, by its content, the folder of a SavedModel, and a graph by the name of its file.
bool is_model(const std::filesystem::path& path);

// True for a TFLite file, by its first bytes.
bool is_tflite(Bytes bytes);
// True for a file of Keras with a network, in a zip archive or HDF5.
bool is_keras(Bytes bytes);
bool is_keras_file(const std::filesystem::path& path);
// Error (unsupported): only TensorFlow reads such a file, or (parse): it ends early.
[[noreturn]] void refuse_keras(Bytes bytes);
// The folder of a SavedModel that a path means, which may be its `saved_model.pb`; empty: it means none. Error
// (unsupported) for one in text form.
std::filesystem::path saved_model_folder(const std::filesystem::path& path);

// Error (parse): the file is damaged. What is wrong in an intact one becomes findings.
results::TensorFlowListing read_model(const std::filesystem::path& path);

// The bytes of such files; a fuzzer gives them as they come. `tags` of a SavedModel separate its graphs.
results::TensorFlowListing read_tflite(Bytes bytes);
results::TensorFlowListing read_frozen_graph(Bytes bytes);
results::TensorFlowListing read_saved_model(Bytes bytes);
// Variables that the index of a checkpoint lists, with their sizes, added to a listing. Gives the number of shards.
uint64_t read_variables(Bytes index, results::TensorFlowListing& listing);

// `float32`; empty for a number that nobody knows.
std::string_view tensorflow_type(uint64_t number);
std::string_view tflite_type(uint64_t number);
// `CONV_2D`; empty for a number beyond the known ones.
std::string_view tflite_operator(uint64_t number);

}  // namespace assay::tensorflow
