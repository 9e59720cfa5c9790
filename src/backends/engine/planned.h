#pragma once

#include <memory>
#include <optional>

#include "backends/engine/lowered.h"
#include "engine/program.h"

namespace assay::backends {

// A lowered model and its program. What they are made with must outlive them.
class Planned {
 public:
  // `values` of the source model may be asked for. Error (usage) if a replay names layers that are not there.
  Planned(Lowered lowered, const engine::Device& device, engine::ProgramOptions options,
          std::span<const std::string> values);

  const Lowered& lowered() const { return lowered_; }
  const engine::Program& program() const { return *program_; }
  // By layer_name.
  std::map<std::string, std::string, std::less<>> tactics() const;

 private:
  void check_replay() const;

  Lowered lowered_;
  engine::ProgramOptions options_;
  std::optional<engine::Program> program_;
};

}  // namespace assay::backends
