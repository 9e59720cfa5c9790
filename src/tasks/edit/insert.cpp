#include "surgery/insert.h"

#include "tasks/edit/edit_job.h"

namespace assay::tasks {

EditOutcome insert(const InsertRequest& request, Observer& observer) {
  EditJob job("surgeon insert", request.edit, observer);
  ir::Model& model = job.load();
  const ir::NodeId node = surgery::insert(model, request.insertion, job.findings());
  for (const ir::ValueId result : model[node].results) {
    job.changed("insert", request.insertion.op, std::string(model.text(model[result].name)));
  }
  if (request.infers) infer_shapes(job.loaded());
  return job.save();
}

}  // namespace assay::tasks
