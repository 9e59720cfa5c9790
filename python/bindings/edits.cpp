#include <nanobind/stl/variant.h>

#include "base/error.h"
#include "convert.h"
#include "library/content.h"
#include "passes/fold/fold_options.h"
#include "tasks/convert.h"
#include "tasks/edit.h"
#include "tensor/dtype.h"

namespace assay::python {
namespace {

std::vector<surgery::Boundary> boundaries(const nb::list& given) {
  std::vector<surgery::Boundary> result;
  for (const nb::handle item : given) {
    const nb::tuple parts = nb::cast<nb::tuple>(item);
    surgery::Boundary& boundary = result.emplace_back();
    boundary.name = nb::cast<std::string>(parts[0]);
    const auto type = nb::cast<std::string>(parts[1]);
    if (!type.empty()) boundary.dtype = tensor::find_dtype(type);
    if (parts[2].is_none()) continue;
    boundary.shape.emplace();
    for (const nb::handle dim : parts[2]) {
      if (dim.is_none())
        boundary.shape->emplace_back();
      else if (nb::isinstance<nb::int_>(dim))
        boundary.shape->emplace_back(nb::cast<int64_t>(dim));
      else
        boundary.shape->emplace_back(nb::cast<std::string>(dim));
    }
  }
  return result;
}

template <typename Request, typename Fn>
Model edited(const Model& model, Request request, nb::object on_message, Fn task) {
  PythonObserver observer(std::move(on_message));
  request.edit.model = library::source_of(model);
  return unlocked([&] {
    auto outcome = task(request, observer);
    return library::make_model(std::move(outcome.model), model.content().path, outcome.report.findings);
  });
}

// What Python says of a sanitization: by the names of the keys.
tasks::SanitizeRequest sanitize_request(const nb::dict& options) {
  tasks::SanitizeRequest request;
  const auto flag = [&](const char* name) { return options.contains(name) && nb::cast<bool>(options[name]); };
  const auto words = [&](const char* name) {
    return options.contains(name) ? nb::cast<std::vector<std::string>>(options[name]) : std::vector<std::string>();
  };
  request.passes.cleans = flag("clean");
  request.passes.sorts = flag("sort");
  request.passes.folds = flag("fold_constants");
  request.passes.simplifies = flag("simplify");
  request.passes.fuses = flag("fuse");
  request.passes.passes = words("passes");
  tasks::check_passes(request.passes.passes);
  passes::FoldOptions fold;
  fold.folds_shapes = !flag("keeps_shapes");
  if (options.contains("size_threshold")) fold.size_threshold_bytes = nb::cast<uint64_t>(options["size_threshold"]);
  request.passes.options.of<passes::FoldOptions>() = fold;
  if (options.contains("fold_rounds")) request.passes.most_fold_rounds = nb::cast<uint64_t>(options["fold_rounds"]);
  if (options.contains("opset")) tasks::set_opset(nb::cast<int64_t>(options["opset"]), request.passes);
  request.outputs.names = words("outputs");
  request.outputs.op_types = words("output_types");
  request.outputs.excluded = words("excluded_outputs");
  request.outputs.is_everything = flag("all_outputs");
  request.converts_to_float16 = flag("float16");
  if (flag("infers_nothing")) request.types = tasks::TypeSource::declared;
  if (options.contains("inputs")) request.overrides = boundaries(nb::cast<nb::list>(options["inputs"]));
  if (options.contains("bounds")) {
    for (const auto& [name, bound] : nb::cast<std::map<std::string, int64_t>>(options["bounds"])) {
      request.bounds.push_back({name, bound});
    }
  }
  return request;
}

Model sanitize(const Model& model, const nb::dict& options, nb::object on_message) {
  return edited(model, sanitize_request(options), std::move(on_message),
                [](const auto& request, auto& observer) { return tasks::sanitize(request, observer); });
}

Model extract(const Model& model, const nb::list& inputs, const nb::list& outputs, nb::object on_message) {
  tasks::ExtractRequest request;
  request.extraction = {boundaries(inputs), boundaries(outputs)};
  return edited(model, std::move(request), std::move(on_message),
                [](const auto& made, auto& observer) { return tasks::extract(made, observer); });
}

// Quantised to int8 as calibrators of TensorRT would; `cache` is read where it is there, otherwise written.
Model quantize(const Model& model, const std::vector<nb::dict>& inputs, const std::string& algorithm,
               const std::string& cache, nb::object on_message) {
  tasks::ConvertRequest request;
  tasks::Int8Request int8;
  for (const nb::dict& set : inputs) request.inputs.data.push_back(to_named_data(set));
  const auto known = tasks::calibrators();
  const tasks::Calibrator* chosen = known.data();
  for (const tasks::Calibrator& calibrator : known) {
    if (calibrator.word == algorithm || calibrator.peer == algorithm) chosen = &calibrator;
  }
  tasks::set_calibrator(*chosen, int8);
  int8.cache = cache;
  int8.backend = "ref";
  request.conversion = std::move(int8);
  return edited(model, std::move(request), std::move(on_message),
                [](const auto& made, auto& observer) { return tasks::convert(made, observer); });
}

}  // namespace

void bind_edits(nb::module_& module) {
  module.def("infer_shapes", [](const Model& model) { return unlocked([&] { return model.infer_shapes(); }); });
  module.def("sanitize", sanitize, nb::arg("model"), nb::arg("options"), nb::arg("on_message") = nb::none());
  module.def("extract", extract, nb::arg("model"), nb::arg("inputs"), nb::arg("outputs"),
             nb::arg("on_message") = nb::none());
  module.def("quantize", quantize, nb::arg("model"), nb::arg("inputs"), nb::arg("algorithm"), nb::arg("cache"),
             nb::arg("on_message") = nb::none());
}

}  // namespace assay::python
