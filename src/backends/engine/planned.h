#pragma once

#include <memory>
#include <optional>

#include "backends/engine/lowered.h"
#include "engine/program/program.h"

namespace assay::backends {

// A lowered model and its program. What they are made with must outlive them.
class Planned {
 public:
  // `values` of the source model may be asked for. Error (usage) if a replay names layers that are not there.
  Planned(Lowered lowered, const engine::Devices& devices, engine::ProgramOptions options,
          std::span<const std::string> values);

  const Lowered& lowered() const { return lowered_; }
  const engine::Program& program() const { return *program_; }
  std::vector<engine::LayerRecord> layers() const { return engine::describe_layers(*program_, lowered_.origins()); }
  // That a run takes for values.
  uint64_t memory_bytes() const { return program_->memory_bytes(); }

 private:
  void check_replay() const;

  Lowered lowered_;
  engine::ProgramOptions options_;
  std::optional<engine::Program> program_;
};

}  // namespace assay::backends
