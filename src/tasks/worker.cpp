#include "tasks/worker.h"

#include "remote/worker.h"

namespace assay::tasks {

int serve_worker(int socket) { return remote::serve(socket); }

}  // namespace assay::tasks
