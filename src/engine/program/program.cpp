#include "engine/program/program.h"

#include "engine/program/bodies.h"
#include "engine/program/program_builder.h"

namespace assay::engine {

Program::Program(const ir::Model& model, const Devices& devices, const ProgramOptions& options)
    : model_(model),
      devices_(devices),
      packed_(options.packed ? options.packed : std::make_shared<KeptWeights>()),
      uploaded_(options.uploaded ? options.uploaded : std::make_shared<UploadedConstants>()),
      is_part_(options.is_part),
      is_strict_(options.is_strict),
      memory_(devices.count()) {
  for (size_t i = 0; i < devices.host(); ++i)
    uploaded_weights_.push_back(std::make_unique<UploadedWeights>(devices[i], *packed_, *uploaded_));
  ProgramBuilder(*this, options).build();
  for (size_t i = 0; i < devices.host(); ++i) devices[i].load_kernels();
}

Program::~Program() = default;

uint64_t Program::memory_bytes() const {
  uint64_t bytes = 0;
  for (const Memory& memory : memory_) bytes += memory.bytes();
  return bytes;
}

std::optional<size_t> Program::slot_of(ir::ValueId value) const {
  const auto found = plain_slots_.find(value);
  return found == plain_slots_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace assay::engine
