#include "engine/program.h"

#include "engine/parts/bodies.h"
#include "engine/program_builder.h"

namespace assay::engine {

Program::Program(const ir::Model& model, const Device& device, const ProgramOptions& options)
    : model_(model), device_(device), packed_(options.packed ? options.packed : std::make_shared<KeptWeights>()) {
  ProgramBuilder(*this, options).build();
}

Program::~Program() = default;

std::optional<size_t> Program::slot_of(ir::ValueId value) const {
  const auto found = plain_slots_.find(value);
  return found == plain_slots_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace assay::engine
