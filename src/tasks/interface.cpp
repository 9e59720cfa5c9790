#include "tasks/interface.h"

#include "ir/edit.h"

namespace assay::tasks {

void set_interface(const InterfaceRequest& request, LoadedModel& loaded) {
  if (!request.outputs.is_empty()) {
    ir::Edit(loaded.model)
        .set_outputs(loaded.model.main_graph(), ir::select_outputs(loaded.model, request.outputs, loaded.findings));
  }
  surgery::set_interface_types(loaded.model, request.types);
}

}  // namespace assay::tasks
