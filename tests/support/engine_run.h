#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "engine/devices/cpu/device.h"
#include "engine/lowering/lower.h"
#include "engine/run/context.h"
#include "support/far_device.h"
#include "support/parsed_model.h"
#include "tensor/elements.h"

namespace assay::testing_support {

// What a run gave: the outputs in order, and the tactic of every step.
struct EngineRun {
  std::vector<std::vector<double>> outputs;
  std::vector<std::string> tactics;
};

// Numbers for inputs, none of them special.
inline double sine(size_t i) { return std::sin(static_cast<double>(i) + 1); }

inline std::vector<ops::InputDatum> drawn_inputs(const ir::Model& model, const std::function<double(size_t)>& number) {
  std::vector<ops::InputDatum> inputs;
  size_t index = 0;
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    const ir::Type& type = model[model[input].type];
    tensor::Shape shape;
    for (const ir::DimId dim : type.dims) shape.push_back(*model.dims().as_constant(dim));
    std::vector<double> numbers(*tensor::element_count(shape));
    for (double& drawn : numbers) drawn = number(index++);
    inputs.push_back({input, ops::make_rounded(type.dtype, shape, numbers)});
  }
  return inputs;
}

inline std::vector<ir::ValueId> outputs_of(const ir::Model& model) {
  std::vector<ir::ValueId> outputs;
  for (const ir::Use& use : model.outputs(model.main_graph())) outputs.push_back(use.value);
  return outputs;
}

// The first number that differs, infinities and NaN by kind, others by more than `tolerance` * (1 + their size); empty:
// none.
inline std::string difference(const std::vector<std::vector<double>>& seen,
                              const std::vector<std::vector<double>>& expected, double tolerance) {
  if (seen.size() != expected.size()) return "another number of outputs";
  for (size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].size() != expected[i].size()) return fmt::format("output {} has {} elements", i, seen[i].size());
    for (size_t k = 0; k < seen[i].size(); ++k) {
      const double a = seen[i][k];
      const double b = expected[i][k];
      const bool is_alike = std::isfinite(b) ? std::fabs(a - b) <= tolerance * (1 + std::fabs(b))
                                             : a == b || (std::isnan(a) && std::isnan(b));
      if (!is_alike) return fmt::format("element {} of output {} is {}, expected {}", k, i, a, b);
    }
  }
  return {};
}

inline EngineRun run_on_devices(const ir::Model& given, const std::function<double(size_t)>& number,
                                const engine::ProgramOptions& options, const engine::Devices& devices) {
  ir::Model model = given.copy();
  ir::Rewriter rewriter(model);
  engine::lower(model, rewriter);
  const engine::Program program(model, devices, options);
  engine::Context context(program, {}, false);
  EngineRun run;
  for (const engine::Step& step : program.steps()) run.tactics.push_back(step.tactic);
  const std::vector<ir::ValueId> wanted = outputs_of(model);
  std::map<ir::ValueId, std::vector<double>> found;
  context.run(drawn_inputs(model, number), wanted, [&](ir::ValueId value, const tensor::Datum& datum) {
    found[value] = tensor::load_elements<double>(datum.tensor());
  });
  for (const ir::ValueId value : wanted) run.outputs.push_back(found.at(value));
  return run;
}

// On our own kernels for the processor, without libraries. The same model runs on a far device with the same kernels,
// every other one in turns with the host, and has to give the same there.
inline EngineRun run_on_engine(const ir::Model& given, const std::function<double(size_t)>& number,
                               const engine::ProgramOptions& options) {
  constexpr double kOtherKernels = 2e-3;  // that other layouts lead to
  const std::unique_ptr<engine::Device> host = engine::cpu::make_device({});
  EngineRun run = run_on_devices(given, number, options, engine::Devices(*host));
  static int runs = 0;
  const bool is_alone = ++runs % 2 == 0;
  const FarDevice far(*host, is_alone ? far::Refuses::nothing : far::Refuses::some);
  const engine::Devices devices({&far, host.get()});
  const std::string differs =
      difference(run_on_devices(given, number, options, devices).outputs, run.outputs, is_alone ? 0 : kOtherKernels);
  if (!differs.empty())
    throw std::logic_error(fmt::format("on the far device{}: {}", is_alone ? "" : " and the host", differs));
  return run;
}

inline EngineRun run_on_engine(const ir::Model& given, const std::function<double(size_t)>& number,
                               bool is_strict = false, std::shared_ptr<engine::KeptWeights> packed = nullptr) {
  return run_on_engine(given, number, engine::ProgramOptions{.is_strict = is_strict, .packed = std::move(packed)});
}

inline std::vector<std::vector<double>> run_on_reference(const ir::Model& model,
                                                         const std::function<double(size_t)>& number) {
  const std::vector<ir::ValueId> wanted = outputs_of(model);
  std::map<ir::ValueId, std::vector<double>> found;
  ops::Interpreter(model, {}).run(drawn_inputs(model, number), wanted,
                                  [&](ir::ValueId value, const tensor::Datum& datum) {
                                    found[value] = tensor::load_elements<double>(datum.tensor());
                                  });
  std::vector<std::vector<double>> outputs;
  for (const ir::ValueId value : wanted) outputs.push_back(found.at(value));
  return outputs;
}

}  // namespace assay::testing_support
