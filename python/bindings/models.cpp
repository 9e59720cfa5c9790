#include "convert.h"
#include "library/content.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "onnx/known_operators.h"
#include "onnx/load.h"
#include "tasks/save.h"

namespace assay::python {
namespace {

nb::object shape_of(const ValueInfo& info) {
  if (!info.shape) return nb::none();
  nb::list dims;
  for (const std::string& dim : *info.shape) {
    const bool is_number = !dim.empty() && dim.find_first_not_of("0123456789") == std::string::npos;
    if (is_number)
      dims.append(std::stoll(dim));
    else if (dim == "?")
      dims.append(nb::none());
    else
      dims.append(dim);
  }
  return dims;
}

nb::list values_of(const std::vector<ValueInfo>& infos) {
  nb::list values;
  for (const ValueInfo& info : infos) values.append(nb::make_tuple(info.name, info.type, shape_of(info)));
  return values;
}

Model load(const std::string& path, const std::string& external_folder, bool ignores_external, nb::object on_message) {
  PythonObserver observer(std::move(on_message));
  return unlocked([&] {
    tasks::LoadedModel loaded = tasks::load_model(
        {.path = path, .type = {}, .external_folder = external_folder, .ignore_external_data = ignores_external},
        observer);
    return library::make_model(std::move(loaded.model), path, loaded.findings.all());
  });
}

// Python keeps the bytes; weights are read where they lie.
Model from_bytes(nb::handle object) {
  const tensor::Tensor buffer = to_tensor(object);
  return unlocked([&] { return Model::from_bytes(buffer.bytes()); });
}

nb::bytes bytes_of(const Model& model) {
  const std::vector<std::byte> bytes = unlocked([&] { return model.bytes(); });
  return nb::bytes(bytes.data(), bytes.size());
}

struct ExternalData {
  std::optional<std::string> name;  // empty: a name of our own
  uint64_t threshold = 1024;
  bool one_file = true;
};

void save(const Model& model, const std::string& path, const ExternalData& external, nb::object on_message) {
  PythonObserver observer(std::move(on_message));
  onnx::SaveOptions options;
  options.external_name = external.name;
  options.threshold = external.threshold;
  options.one_file = external.one_file;
  unlocked([&] {
    ir::Model copy = model.content().model.copy();
    tasks::save_model(copy, path, options, observer);
  });
}

nb::list findings_of(const Model& model) {
  nb::list findings;
  for (const Finding& finding : model.findings()) {
    findings.append(nb::make_tuple(static_cast<int>(finding.severity), finding.code, finding.node, finding.message));
  }
  return findings;
}

nb::list lint(const Model& model, bool is_static) {
  const std::vector<LintFinding> found = unlocked([&] { return model.lint(is_static); });
  nb::list findings;
  for (const LintFinding& finding : found) {
    findings.append(nb::make_tuple(static_cast<int>(finding.level), finding.code, finding.node, finding.message));
  }
  return findings;
}

}  // namespace

void bind_models(nb::module_& module) {
  nb::class_<Model>(module, "Model")
      .def_prop_ro("inputs", [](const Model& self) { return values_of(self.inputs()); })
      .def_prop_ro("outputs", [](const Model& self) { return values_of(self.outputs()); })
      .def_prop_ro("findings", findings_of)
      .def_prop_ro("path", [](const Model& self) { return self.content().path; })
      .def("bytes", bytes_of)
      .def("text", [](const Model& self) { return unlocked([&] { return self.text(); }); })
      .def("lint", lint)
      .def(
          "save",
          [](const Model& self, const std::string& path, std::optional<std::string> name, uint64_t threshold,
             bool one_file, nb::object on_message) {
            save(self, path, {std::move(name), threshold, one_file}, std::move(on_message));
          },
          nb::arg("path"), nb::arg("external_name") = nb::none(), nb::arg("threshold") = 1024,
          nb::arg("one_file") = true, nb::arg("on_message") = nb::none());
  module.def("load_model", load, nb::arg("path"), nb::arg("external_folder") = "", nb::arg("ignores_external") = false,
             nb::arg("on_message") = nb::none());
  module.def("model_from_bytes", from_bytes);
  module.def("model_from_text", [](const std::string& text) { return Model::from_text(text); });
}

}  // namespace assay::python
