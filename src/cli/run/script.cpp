#include "cli/run/script.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/logging.h"
#include "tasks/check.h"

namespace assay::cli {
namespace {

// Options that the script has a counterpart of, beside those that choose and set backends.
constexpr std::array kKnown = {"model_file",
                               "--gen-script",
                               "--trt-network-func-name",
                               "--trt-engine",
                               "--onnx-outputs",
                               "--onnx-outputs-by-type",
                               "--onnx-exclude-outputs",
                               "--seed",
                               "--iterations",
                               "--val-range",
                               "--input-shapes",
                               "--load-inputs",
                               "--data-loader-script",
                               "--data-loader-func-name",
                               "--warm-up",
                               "--save-inputs",
                               "--save-outputs",
                               "--load-outputs",
                               "--compare-func",
                               "--atol",
                               "--rtol",
                               "--check-error-stat",
                               "--error-quantile",
                               "--index-tolerance",
                               "--l2-threshold",
                               "--cosine-similarity-threshold",
                               "--psnr-threshold",
                               "--snr-threshold",
                               "--infinities-compare-equal",
                               "--no-shape-check",
                               "--fail-fast",
                               "--validate"};

void add_names(const OptionGroup& group, std::set<std::string_view>& names) {
  for (const OptionRow& row : group.rows) names.insert(canonical_name(row));
}

void check_options(const Arguments& arguments) {
  std::set<std::string_view> known(kKnown.begin(), kKnown.end());
  std::vector<OptionGroup> groups = backend_settings_groups();
  groups.push_back(logging_group());
  groups.push_back(backend_group(true));
  for (const OptionGroup& group : groups) add_names(group, known);
  for (const std::string_view limit : {"--threads", "--max-memory", "--python", "--mark-debug"}) known.erase(limit);
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    if (known.contains(canonical_name(*use.row))) continue;
    fail(ErrorCode::unsupported, "--gen-script: `{}` has no counterpart in a script", use.typed);
  }
}

std::string text_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(python_string(text));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string value_text(double value) { return python_float(value); }
std::string value_text(int64_t value) { return std::to_string(value); }
std::string value_text(compare::ErrorStatistic value) { return python_string(compare::word(value)); }

// A number, or a dictionary of them by output.
template <typename T>
std::string per_output(const compare::PerOutput<T>& setting) {
  std::string fallback = value_text(setting.of(""));
  if (setting.entries().empty()) return fallback;
  std::vector<std::string> items = {"\"\": " + std::move(fallback)};
  for (const auto& [name, value] : setting.entries()) items.push_back(python_string(name) + ": " + value_text(value));
  return fmt::format("{{{}}}", fmt::join(items, ", "));
}

std::string function_text(compare::Function function, const compare::CompareOptions& options) {
  using enum compare::Function;
  const std::string shapes = options.check_shapes ? "" : ", check_shapes=False";
  const std::string fast = options.fail_fast ? ", fail_fast=True" : "";
  switch (function) {
    case indices:
      return fmt::format("IndicesCompareFunc({}{})", per_output(options.index_tolerance), fast);
    case l2:
      return fmt::format("L2CompareFunc({}{}{})", per_output(options.l2), shapes, fast);
    case cosine_similarity:
      return fmt::format("CosineSimilarityCompareFunc({}{}{})", per_output(options.cosine), shapes, fast);
    case psnr:
      return fmt::format("PsnrCompareFunc({}{}{})", per_output(options.psnr_db), shapes, fast);
    case snr:
      return fmt::format("SnrCompareFunc({}{}{})", per_output(options.snr_db), shapes, fast);
    default:
      break;
  }
  return fmt::format("SimpleCompareFunc(atol={}, rtol={}, check_error_stat={}, error_quantile={}{}{}{})",
                     per_output(options.atol), per_output(options.rtol), per_output(options.statistic),
                     per_output(options.quantile), shapes, fast,
                     options.infinities_equal ? ", infinities_compare_equal=True" : "");
}

class ScriptWriter {
 public:
  ScriptWriter(const tasks::RunRequest& request, std::string command)
      : request_(request), command_(std::move(command)) {}

  std::string write() {
    if (request_.backends.empty() && request_.saved_outputs.empty()) {
      line("sys.exit(0)");
    } else {
      write_calls();
    }
    std::string head = fmt::format("#!/usr/bin/env python3\n# What `{}` does.\n\nimport sys\n\n", command_);
    for (const auto& [module, names] : imports_) {
      head += fmt::format("from {} import {}\n", module, fmt::join(names, ", "));
    }
    return head + "\n" + body_;
  }

 private:
  void write_calls() {
    write_model();
    write_runners();
    write_inputs();
    write_run();
    write_comparison();
  }

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    body_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  void import(std::string_view module, const std::string& name) {
    imports_[fmt::format("assay.{}", module)].insert(name);
  }

  void write_model() {
    const bool has_model = request_.plans.size() < request_.backends.size();
    if (!has_model) return;
    const bool is_network = request_.model.path.find(".py") != std::string::npos;
    if (is_network) fail(ErrorCode::unsupported, "--gen-script: a network script is a script already");
    import("backend.onnx", "OnnxFromPath");
    line("load_model = OnnxFromPath({})", python_string(request_.model.path));
    const ir::OutputSelection& outputs = request_.outputs;
    if (outputs.is_empty()) return;
    import("backend.onnx", "ModifyOutputs");
    std::string chosen = outputs.is_everything ? "constants.MARK_ALL" : text_list(outputs.names);
    if (outputs.is_everything) imports_["assay"].insert("constants");
    line("load_model = ModifyOutputs(load_model, outputs={}, exclude_outputs={}, mark_types={})", chosen,
         text_list(outputs.excluded), text_list(outputs.op_types));
  }

  std::string settings_text(const std::string& backend) const {
    std::vector<std::string> items;
    for (const tasks::BackendSettings& known : tasks::backend_settings()) {
      if (known.backend != backend) continue;
      for (const exec::Setting& setting : known.settings) {
        if (!request_.session.settings.has(setting.name)) continue;
        items.push_back(python_string(setting.name) + ": " + text_list(request_.session.settings.list(setting.name)));
      }
    }
    return items.empty() ? "" : fmt::format(", settings={{{}}}", fmt::join(items, ", "));
  }

  std::string runner_text(size_t number) {
    const std::string& backend = request_.backends[number];
    if (const auto plan = request_.plans.find(number); plan != request_.plans.end()) {
      import("backend.trt", "EngineFromPath");
      import("backend.trt", "TrtRunner");
      return fmt::format("TrtRunner(EngineFromPath({}))", python_string(plan->second));
    }
    import("session", "BackendRunner");
    return fmt::format("BackendRunner(load_model, {}{})", python_string(backend), settings_text(backend));
  }

  void write_runners() {
    line("runners = [");
    for (size_t i = 0; i < request_.backends.size(); ++i) line("    {},", runner_text(i));
    line("]");
  }

  void write_inputs() {
    const tasks::InputRequest& inputs = request_.inputs;
    if (inputs.script) {
      import("backend.common", "InvokeFromScript");
      line("data_loader = InvokeFromScript({}, {})", python_string(inputs.script->path),
           python_string(inputs.script->function));
    } else if (!inputs.files.empty()) {
      import("comparator", "StreamingDataLoader");
      line("data_loader = StreamingDataLoader({})", text_list(inputs.files));
    } else {
      write_generated(inputs);
    }
  }

  void write_generated(const tasks::InputRequest& inputs) {
    import("comparator", "DataLoader");
    std::string more;
    if (!inputs.generated.shapes.empty()) {
      import("common", "TensorMetadata");
      more += ", input_metadata=TensorMetadata()";
      for (const exec::InputShape& shape : inputs.generated.shapes) {
        more += fmt::format(".add({}, None, [{}])", python_string(shape.pattern), fmt::join(shape.dims, ", "));
      }
    }
    std::vector<std::string> ranges;
    for (const exec::InputRange& range : inputs.generated.ranges) {
      const std::string name = range.pattern == "*" ? "" : range.pattern;
      ranges.push_back(
          fmt::format("{}: ({}, {})", python_string(name), python_float(range.low), python_float(range.high)));
    }
    if (!ranges.empty()) more += fmt::format(", val_range={{{}}}", fmt::join(ranges, ", "));
    line("data_loader = DataLoader(seed={}, iterations={}{})", inputs.generated.seed, inputs.iterations, more);
  }

  void write_run() {
    import("comparator", "Comparator");
    std::string more;
    if (request_.warm_up != 0) more += fmt::format(", warm_up={}", request_.warm_up);
    if (!request_.save_inputs.empty()) more += ", save_inputs_path=" + python_string(request_.save_inputs);
    if (!request_.save_outputs.empty()) more += ", save_outputs_path=" + python_string(request_.save_outputs);
    line("\nresults = Comparator.run(runners, data_loader=data_loader{})", more);
    if (request_.saved_outputs.empty()) return;
    import("comparator", "RunResults");
    line("for path in {}:\n    results += RunResults.load(path)", text_list(request_.saved_outputs));
  }

  void write_comparison() {
    line("passed = True");
    if (request_.validate) line("passed = Comparator.validate(results, check_inf=True) and passed");
    if (request_.backends.size() + request_.saved_outputs.size() > 1) {
      std::vector<std::string> functions;
      for (const compare::Function function : request_.compare.functions) {
        functions.push_back(function_text(function, request_.compare));
        import("comparator", functions.back().substr(0, functions.back().find('(')));
      }
      line("compare_funcs = [\n    {},\n]", fmt::join(functions, ",\n    "));
      line("passed = bool(Comparator.compare_accuracy(results, compare_func=compare_funcs{})) and passed",
           request_.compare.fail_fast ? ", fail_fast=True" : "");
    }
    line("sys.exit(not passed)");
  }

  const tasks::RunRequest& request_;
  std::string command_;
  std::map<std::string, std::set<std::string>> imports_;  // names by module
  std::string body_;
};

}  // namespace

std::string run_script(const RunWords& words, const Arguments& arguments, const std::string& command) {
  check_options(arguments);
  return ScriptWriter(words.request, command).write();
}

}  // namespace assay::cli
