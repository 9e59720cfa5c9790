#include "base/error.h"
#include "base/text.h"
#include "formats/json/python_json.h"
#include "formats/named_tensor.h"
#include "formats/numpy/npy.h"
#include "formats/peer/peer_json.h"
#include "formats/raw_bits.h"

namespace assay::formats {
namespace {

constexpr std::string_view kClass = "polygraphy_class";

void write_class(PythonJson& json, std::string_view name) {
  json.key(kClass);
  json.string(name);
}

void write_plain(PythonJson& json, const tensor::Tensor& tensor) {
  const NpyImage image(tensor);
  json.key("array");
  json.base64(std::as_bytes(std::span(image.header())), image.elements());
}

void write_array(PythonJson& json, const tensor::NamedDatum& value) {
  const tensor::Tensor& tensor = tensor_to_save(value);
  json.begin_object();
  if (is_raw_bits_type(tensor.dtype())) {
    write_plain(json, to_raw_bits(tensor));
    json.key("assay_dtype");
    json.string(tensor::name(tensor.dtype()));
  } else {
    write_plain(json, tensor);
  }
  if (is_packed(tensor.dtype())) {
    json.key("assay_shape");
    json.begin_array();
    for (const int64_t dim : tensor.shape()) json.integer(dim);
    json.end_array();
  }
  write_class(json, "ndarray");
  json.end_object();
}

void write_arrays(PythonJson& json, const tensor::NamedData& arrays) {
  json.begin_object();
  for (const tensor::NamedDatum& array : arrays) {
    json.key(array.name);
    write_array(json, array);
  }
  json.end_object();
}

void write_iteration(PythonJson& json, const SavedIteration& iteration) {
  json.begin_object();
  json.key("outputs");
  json.begin_object();
  for (const tensor::NamedDatum& output : iteration.outputs) {
    json.key(output.name);
    json.begin_object();
    json.key("values");
    write_array(json, output);
    write_class(json, "LazyArray");
    json.end_object();
  }
  json.end_object();
  json.key("runtime");
  if (iteration.runtime_seconds)
    json.number(*iteration.runtime_seconds);
  else
    json.null();
  json.key("runner_name");
  json.string(iteration.runner);
  write_class(json, "IterationResult");
  json.end_object();
}

void write_run(PythonJson& json, const SavedRun& run) {
  json.begin_array();
  json.string(run.runner);
  json.begin_array();
  for (const SavedIteration& iteration : run.iterations) write_iteration(json, iteration);
  json.end_array();
  json.end_array();
}

}  // namespace

void write_peer_inputs(const std::filesystem::path& path, const SavedInputs& inputs) {
  OutputFile out(path);
  PythonJson json(out);
  json.begin_array();
  for (const tensor::NamedData& arrays : inputs) write_arrays(json, arrays);
  json.end_array();
  out.commit();
}

void write_peer_iteration(const std::filesystem::path& path, const tensor::NamedData& inputs) {
  OutputFile out(path);
  PythonJson json(out);
  write_arrays(json, inputs);
  out.commit();
}

void write_peer_results(const std::filesystem::path& path, const SavedRuns& runs) {
  OutputFile out(path);
  PythonJson json(out);
  json.begin_object();
  json.key("lst");
  json.begin_array();
  for (const SavedRun& run : runs) write_run(json, run);
  json.end_array();
  write_class(json, "RunResults");
  json.end_object();
  out.commit();
}

}  // namespace assay::formats
