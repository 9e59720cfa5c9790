#include "engine/devices/cuda/programs.h"

#include <fmt/format.h>

#include "engine/devices/cuda/text/texts.h"

namespace assay::engine::cuda {

std::shared_ptr<const Program> Programs::get(const std::string& text) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = programs_.find(text); known != programs_.end()) return known->second;
  }
  // Cards of 9.0 have instructions that only their own architecture has.
  const std::string architecture = fmt::format("sm_{}{}", card_->capability(), card_->capability() == 90 ? "a" : "");
  const std::string whole = std::string(machine_text()) + text;
  const std::string key = fmt::format("{}\n{}\n{}", compiler_.identity(), architecture, whole);
  std::optional<std::vector<std::byte>> cubin = cache_.find(key);
  if (!cubin) {
    cubin = compiler_.compile(whole, architecture);
    cache_.add(key, *cubin);
  }
  auto program = std::make_shared<const Program>(card_, *cubin);
  const std::scoped_lock lock(mutex_);
  return programs_.try_emplace(text, std::move(program)).first->second;
}

Buffer Programs::upload(std::span<const std::byte> bytes) const {
  Buffer table = card_->allocate(bytes.size());
  card_->driver().check(card_->api().upload(table.first.value, bytes.data(), bytes.size(), nullptr), "an upload");
  card_->driver().check(card_->api().stream_wait(nullptr), "an upload");
  return table;
}

}  // namespace assay::engine::cuda
