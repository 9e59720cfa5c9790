#pragma once

#include <nanobind/nanobind.h>

namespace assay::python {

void bind_graph_builder(nanobind::module_& module);

}  // namespace assay::python
