#pragma once

#include <optional>

#include "engine/devices/cpu/onednn/operation.h"
#include "engine/devices/cpu/tape/tape.h"

namespace assay::engine::cpu::onednn {

// What follows a product in its layer: an operation that the library appends itself, and a tape for the rest.
struct Epilogue {
  Eltwise eltwise;
  Tape tape;
};

// Of layer.nodes after the first. Nullopt: no tape computes them.
std::optional<Epilogue> make_epilogue(const Layer& layer);

}  // namespace assay::engine::cpu::onednn
