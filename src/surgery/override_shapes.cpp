#include "surgery/override_shapes.h"

#include <fmt/format.h>

#include "base/text.h"
#include "surgery/boundary_types.h"
#include "surgery/make_input.h"
#include "surgery/names.h"

namespace assay::surgery {

void override_shapes(ir::Model& model, std::span<const Boundary> shapes, Diagnostics& findings) {
  std::vector<ir::ValueId> values;
  {
    const NamedValues named(model);
    for (const Boundary& shape : shapes) values.push_back(named[shape.name]);
  }
  std::vector<ir::ValueId> changed;
  for (size_t i = 0; i < shapes.size(); ++i) {
    Diagnostics expected;  // that a shape contradicts the old one is what was asked for
    const ir::TypeId type = boundary_type(model, shapes[i], known_type(model, values[i]), expected);
    if (model[values[i]].kind != ir::ValueKind::input) {
      findings.warn("override", shapes[i].name,
                    fmt::format("`{}` is computed in the model: it becomes an input", printable(shapes[i].name)));
    }
    changed.push_back(make_input(model, values[i], type));
  }
  if (!changed.empty()) renew_shapes(model, std::move(changed));
}

}  // namespace assay::surgery
