#include "tasks/debug/subject.h"

#include "tasks/debug/observed.h"

namespace assay::tasks {

Subject open_subject(const ModelSource& model, const InputRequest& inputs, Observer& observer,
                     const std::function<void(LoadedModel&)>& prepare) {
  Subject subject{load_model(model, observer), {}};
  require_runnable(subject.loaded);
  if (prepare) prepare(subject.loaded);
  subject.inputs = make_first_inputs(subject.loaded, inputs, observer);
  tell_findings(subject.loaded.findings, observer);
  return subject;
}

}  // namespace assay::tasks
