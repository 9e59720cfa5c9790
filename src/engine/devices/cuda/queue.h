#pragma once

#include <memory>

#include "engine/devices/cuda/launched_call.h"

namespace assay::engine::cuda {

// A queue with a stream of its own. A sequence of launches that is added again becomes one graph.
std::unique_ptr<LaunchQueue> make_queue(std::shared_ptr<const Card> card);

}  // namespace assay::engine::cuda
