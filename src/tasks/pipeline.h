#pragma once

#include "results/pipeline.h"
#include "tasks/run.h"

namespace assay::tasks {

// Runs the models of a pipeline one after the other on all backends. At each seam the sides are compared twice: on the
// inputs that the first side gave the stage, so that only the stage itself can be at fault, and on their own.
struct PipelineRequest {
  std::string path;
  RunRequest run;  // backends, comparison and inputs; its model is that of each stage in turn
};

// True for the name of a YAML file.
bool is_pipeline(const std::string& path);

// Error (parse, usage, io) for a pipeline that is wrong, before anything runs.
results::PipelineReport run_pipeline(const PipelineRequest& request, Observer& observer);

}  // namespace assay::tasks
