#pragma once

#include <memory>
#include <vector>

#include "base/diagnostics.h"
#include "engine/device/device.h"
#include "exec/backend.h"

namespace assay::engine::cuda {
class Card;
}

namespace assay::backends {

// True if the settings, or else the environment, name a card.
bool asks_for_card(const exec::Settings& settings);
// The card that they name; null: none. Error (unsupported) that says what is missing.
std::shared_ptr<const engine::Device> find_card(const exec::SessionOptions& options, Diagnostics& findings);
// The card that the environment names, without a compiler for it; null: none. Error (unsupported) likewise.
std::shared_ptr<const engine::cuda::Card> usual_card();
// Error (unsupported) if the address is one of a card, whose driver somebody in this process uses.
void refuse_card_memory(uint64_t address);
// All cards of this machine; one without a name that says why there is none.
std::vector<exec::DeviceProbe> examine_cards(const exec::LibrarySearch& search);

}  // namespace assay::backends
