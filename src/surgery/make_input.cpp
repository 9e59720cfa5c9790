#include "surgery/make_input.h"

#include <string>

#include "ir/edit.h"
#include "ir/naming.h"

namespace assay::surgery {

ir::ValueId make_input(ir::Model& model, ir::ValueId value, ir::TypeId type) {
  ir::Edit edit(model);
  const ir::ValueKind kind = model[value].kind;
  if (kind == ir::ValueKind::input) {
    edit.set_type(value, type);
    return value;
  }
  const ir::Symbol name = model[value].name;
  const ir::ValueId input = edit.add_input(model.main_graph(), name, type);
  edit.replace_uses(value, input);
  const std::string other = std::string(model.text(name)) + "_detached";
  if (kind != ir::ValueKind::undefined) edit.rename(value, ir::fresh_name(edit, other));
  return input;
}

}  // namespace assay::surgery
