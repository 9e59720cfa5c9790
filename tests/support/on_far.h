#pragma once

#include <optional>

#include "support/engine_run.h"

namespace assay::testing_support {

// An initializer `w` of so many rows and columns.
inline std::string square_weights(int side) {
  std::string text = fmt::format("float[{0},{0}] w = {{", side);
  for (int i = 0; i < side * side; ++i) text += fmt::format("{}{:.4f}", i == 0 ? "" : ",", std::sin(i * 0.7));
  return text + "}";
}

// A model on the far device and the host, planned once.
class OnFar {
 public:
  explicit OnFar(
      const std::string& text, far::Refuses refuses = far::Refuses::nothing,
      const std::function<void(FarDevice&)>& set = [](FarDevice&) {})
      : model_(parsed(text)), host_(engine::cpu::make_device({})), far_(*host_, refuses) {
    set(far_);
    program_.emplace(model_, engine::Devices({&far_, host_.get()}), engine::ProgramOptions());
  }

  FarDevice& far() { return far_; }
  const engine::Program& program() const { return *program_; }
  std::vector<std::string> tactics() const {
    std::vector<std::string> tactics;
    for (const engine::Step& step : program_->steps()) tactics.push_back(step.tactic);
    return tactics;
  }
  const ir::Model& model() const { return model_; }
  std::vector<std::vector<double>> run(engine::Context& context, const std::function<double(size_t)>& number,
                                       const std::map<ir::ValueId, engine::OutputPlace>& places = {}) const {
    std::map<ir::ValueId, std::vector<double>> found;
    const std::vector<ir::ValueId> wanted = outputs_of(model_);
    const auto take = [&](ir::ValueId value, const tensor::Datum& datum) {
      found[value] = tensor::load_elements<double>(datum.tensor());
    };
    context.run(drawn_inputs(model_, number), wanted, take, places);
    std::vector<std::vector<double>> outputs;
    for (const ir::ValueId value : wanted) outputs.push_back(found.at(value));
    return outputs;
  }
  std::vector<std::vector<double>> expected(const std::function<double(size_t)>& number) const {
    return run_on_reference(model_, number);
  }
  // Of this code, if one is expected; empty: there is none.
  std::string error_of(engine::Context& context, const std::function<double(size_t)>& number,
                       std::optional<ErrorCode> expected = {}) const {
    try {
      run(context, number);
    } catch (const Error& error) {
      if (expected && error.code() != *expected) return fmt::format("another code: {}", error.line());
      return error.line();
    }
    return "";
  }

 private:
  ir::Model model_;
  std::unique_ptr<engine::Device> host_;
  FarDevice far_;
  std::optional<engine::Program> program_;
};

}  // namespace assay::testing_support
