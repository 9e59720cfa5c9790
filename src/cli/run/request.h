#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "cli/run/scripts.h"
#include "compare/options.h"
#include "compare/post_process.h"
#include "exec/generated_inputs.h"
#include "ir/selection.h"
#include "onnx/export.h"

namespace assay::cli {

// What the options of `run` ask for, every word checked before any work starts.
struct RunRequest {
  std::vector<std::string> backends;
  std::string model;  // empty: only saved results are compared
  exec::SessionOptions session;
  exec::GenerateOptions data;
  compare::CompareOptions compare;
  compare::PostProcessing post_processing{std::nullopt};
  ir::OutputSelection outputs;
  uint64_t iterations = 1;
  uint64_t warm_up = 0;
  bool is_sequential = false;
  bool wants_computed_tolerance = false;
  bool check_average = false;
  bool validate = false;
  std::vector<std::string> load_inputs;
  bool casts_inputs = false;
  std::vector<std::string> load_outputs;
  std::string save_inputs;
  std::string save_outputs;
  std::optional<std::string> save_blobs;  // a folder
  std::string save_onnx;
  onnx::SaveOptions save_onnx_options;
  bool infer_shapes = false;
  bool converts_to_float16 = false;
  std::string save_accuracy;
  std::string page;  // of HTML
  std::string junit;
  std::optional<std::string> heat_maps;  // a folder; empty: a new temporary one
  std::optional<std::string> error_plots;
  ScriptRequest scripts;
  bool isolate = false;
  double timeout_seconds = 0;  // 0: none
  uint64_t jobs = 1;
  std::vector<std::string> notes;  // warnings about options that have no effect
};

RunRequest parse_run_request(const Arguments& arguments);

}  // namespace assay::cli
