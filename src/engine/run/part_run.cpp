#include "engine/run/part_run.h"

#include "engine/run/context.h"

namespace assay::engine {
namespace {

constexpr size_t kKeptContexts = 16;

std::vector<ops::InputDatum> bound(std::span<const ir::ValueId> values, std::span<const tensor::Datum> inputs) {
  std::vector<ops::InputDatum> given;
  for (size_t i = 0; i < values.size(); ++i) given.push_back({values[i], inputs[i]});
  return given;
}

// Gives outputs in their order, of which two may be the same value.
class Outputs {
 public:
  explicit Outputs(std::span<const ir::ValueId> values) : values_(values), datums_(values.size()) {}
  void take(ir::ValueId value, const tensor::Datum& datum) {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] == value) datums_[i] = datum;
    }
  }
  std::vector<tensor::Datum> given() { return std::move(datums_); }

 private:
  std::span<const ir::ValueId> values_;
  std::vector<tensor::Datum> datums_;
};

}  // namespace

PartRun::PartRun(const Part& part, const ContextPlace& place) : part_(part), place_(place), prepared_(kKeptContexts) {}

PartRun::~PartRun() = default;

PartRun::Prepared& PartRun::prepare(std::span<const tensor::Datum> inputs) {
  PartShapes shapes = shapes_of(inputs);
  Prepared* const last = prepared_.last();
  Prepared* const known = prepared_.find(shapes);
  if (last != nullptr && last != known && last->context) last->context->rest();
  if (known != nullptr) return *known;
  Prepared made{part_.plan(shapes), nullptr};
  if (made.planned) made.context = std::make_unique<Context>(made.planned->program(), place_, false);
  return prepared_.add(std::move(shapes), std::move(made));
}

std::optional<std::vector<tensor::Datum>> PartRun::run(std::span<const tensor::Datum> inputs) {
  const auto& [planned, context] = prepare(inputs);
  if (!planned) return std::nullopt;
  Outputs outputs(planned->outputs());
  context->run(bound(planned->inputs(), inputs), planned->outputs(),
               [&](ir::ValueId value, const tensor::Datum& datum) { outputs.take(value, datum); });
  return outputs.given();
}

std::vector<tensor::Datum> PartRun::run_reference(std::span<const tensor::Datum> inputs) {
  const ir::Model& model = part_.model();
  if (!reference_) reference_ = std::make_unique<ops::Interpreter>(model, place_.limits);
  std::vector<ir::ValueId> wanted;
  for (const ir::Use& use : model.outputs(model.main_graph())) wanted.push_back(use.value);
  Outputs outputs(wanted);
  reference_->run(bound(model[model.main_graph()].inputs, inputs), wanted,
                  [&](ir::ValueId value, const tensor::Datum& datum) { outputs.take(value, datum); });
  return outputs.given();
}

}  // namespace assay::engine
