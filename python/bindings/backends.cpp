#include "convert.h"
#include "exec/generated_inputs.h"
#include "exec/library_search.h"
#include "library/content.h"
#include "tasks/check.h"

namespace assay::python {
namespace {

// Inputs as the program makes them up, which are the peer's.
nb::dict generate(const nb::list& ports, uint64_t seed,
                  const std::vector<std::tuple<std::string, double, double>>& ranges, const nb::object& on_message) {
  exec::Signature signature;
  for (const nb::handle each : ports) {
    exec::Port& port = signature.inputs.emplace_back();
    port.name = nb::cast<std::string>(each[0]);
    exec::PortType type;
    type.dtype = tensor::find_dtype(nb::cast<std::string>(each[1])).value_or(tensor::DType::undefined);
    type.ranked = true;
    for (const int64_t dim : nb::cast<std::vector<int64_t>>(each[2])) type.dims.push_back({dim, std::to_string(dim)});
    port.type = std::move(type);
  }
  exec::GenerateOptions options;
  options.seed = seed;
  for (const auto& [pattern, low, high] : ranges) options.ranges.push_back({pattern, low, high});
  Diagnostics findings;
  const std::vector<exec::Feed> feeds = unlocked([&] { return exec::generate_inputs(signature, options, findings); });
  tell(findings, on_message);
  nb::dict made;
  for (const exec::Feed& feed : feeds) made[feed.name.c_str()] = nb::cast(Array{feed.value.tensor(), true});
  return made;
}

nb::list doctor() {
  const std::string python = nb::cast<std::string>(nb::module_::import_("sys").attr("executable"));
  const std::vector<BackendInfo> backends = unlocked([&] { return available_backends(python); });
  nb::list found;
  for (const BackendInfo& each : backends) {
    found.append(nb::make_tuple(each.name, each.usable, each.version, each.path, each.settings));
  }
  return found;
}

}  // namespace

void bind_backends(nb::module_& module) {
  module.def("generate", generate, nb::arg("ports"), nb::arg("seed"), nb::arg("ranges"),
             nb::arg("on_message") = nb::none());
  module.def("doctor", doctor);
}

}  // namespace assay::python
