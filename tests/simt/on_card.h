#pragma once

#include <optional>

#include "simt/host_card.h"
#include "support/engine_run.h"

namespace assay::testing_support {

// A model on a card whose kernels the host runs, planned once; the processor computes what the card cannot.
class OnCard {
 public:
  explicit OnCard(const std::string& text, const engine::ProgramOptions& options = {})
      : model_(parsed(text)), host_(engine::cpu::make_device({})) {
    ir::Rewriter rewriter(model_);
    engine::lower(model_, rewriter, {.rules = card_.device().rules()});
    program_.emplace(model_, engine::Devices({&card_.device(), host_.get()}), options);
  }

  const HostCard& card() const { return card_; }
  const engine::Program& program() const { return *program_; }
  const ir::Model& model() const { return model_; }
  // The tactics of all layers, the processor's with its name.
  std::vector<std::string> tactics() const {
    std::vector<std::string> tactics;
    for (const engine::Step& step : program_->steps()) {
      if (step.node.valid()) tactics.push_back((step.device == 0 ? "" : "cpu: ") + step.tactic);
    }
    return tactics;
  }
  std::vector<std::vector<double>> run(engine::Context& context,
                                       const std::function<double(size_t)>& number = sine) const {
    std::map<ir::ValueId, std::vector<double>> found;
    const std::vector<ir::ValueId> wanted = outputs_of(model_);
    context.run(drawn_inputs(model_, number), wanted, [&](ir::ValueId value, const tensor::Datum& datum) {
      found[value] = tensor::load_elements<double>(datum.tensor());
    });
    std::vector<std::vector<double>> outputs;
    for (const ir::ValueId value : wanted) outputs.push_back(found.at(value));
    return outputs;
  }
  std::vector<std::vector<double>> expected(const std::function<double(size_t)>& number = sine) const {
    return run_on_reference(model_, number);
  }

 private:
  HostCard card_;
  ir::Model model_;
  std::unique_ptr<engine::Device> host_;
  std::optional<engine::Program> program_;
};

}  // namespace assay::testing_support
