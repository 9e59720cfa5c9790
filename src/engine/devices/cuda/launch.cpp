#include "engine/devices/cuda/launch.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "engine/devices/cuda/launched_call.h"

namespace assay::engine::cuda {
namespace {

class LaunchedKernel final : public Kernel {
 public:
  explicit LaunchedKernel(Launches launches) : launches_(std::make_shared<const Launches>(std::move(launches))) {}
  uint64_t workspace_bytes() const override { return launches_->workspace_bytes; }
  std::unique_ptr<Call> bind(const Arguments& arguments) const override {
    return std::make_unique<LaunchedCall>(launches_, arguments);
  }

 private:
  std::shared_ptr<const Launches> launches_;
};

uint64_t resolve(const Pointer& pointer, const Arguments& arguments, const Buffer& counters) {
  const auto offset = static_cast<uint64_t>(pointer.offset);
  switch (pointer.kind) {
    case Pointer::Kind::input:
      return arguments.inputs[pointer.index].value + offset;
    case Pointer::Kind::output:
      return arguments.outputs[pointer.index].value + offset;
    case Pointer::Kind::workspace:
      return arguments.workspace.value + offset;
    case Pointer::Kind::counters:
      return counters.first.value;
    case Pointer::Kind::fixed:
      return offset;
  }
  return 0;
}

std::atomic<uint64_t> next_number = 1;

constexpr size_t kKeptBindings = 4;  // callers take turns between few buffers

}  // namespace

void Launch::add_divisor(int64_t divisor) {
  const auto number = static_cast<uint64_t>(divisor);
  const auto log = static_cast<unsigned>(std::bit_width(number - 1));  // rounded up
  const uint64_t factor = number <= 1 ? 0 : ((uint64_t{1} << (31 + log)) + number - 1) / number;
  add(divisor);
  numbers.push_back(static_cast<int32_t>(static_cast<uint32_t>(factor)));
  numbers.push_back(number <= 1 ? 0 : static_cast<int32_t>(log) - 1);
}

std::unique_ptr<Kernel> make_kernel(Launches launches) { return std::make_unique<LaunchedKernel>(std::move(launches)); }

LaunchedCall::LaunchedCall(std::shared_ptr<const Launches> launches, const Arguments& arguments)
    : launches_(std::move(launches)) {
  if (launches_->counter_bytes > 0) {
    const Card& card = launches_->all.front().program->card();
    counters_ = card.allocate(launches_->counter_bytes);
    card.driver().check(
        card.api().set_words(counters_.first.value, 0, launches_->counter_bytes / sizeof(int32_t), nullptr),
        "counters");
    card.driver().check(card.api().stream_wait(nullptr), "counters");
  }
  for (const Launch& launch : launches_->all) {
    const size_t bytes = launch.pointers.size() * sizeof(uint64_t) + launch.numbers.size() * sizeof(int32_t);
    parameters_.emplace_back((bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t));
    std::memcpy(parameters_.back().data() + launch.pointers.size() * sizeof(uint64_t), launch.numbers.data(),
                launch.numbers.size() * sizeof(int32_t));
  }
  rebind(arguments);
}

void LaunchedCall::run(Queue& queue) { dynamic_cast<LaunchQueue&>(queue).add(*this); }

void LaunchedCall::rebind(const Arguments& arguments) {
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < launches_->all.size(); ++i) {
    std::byte* at = parameters_[i].data();
    for (const Pointer& pointer : launches_->all[i].pointers) {
      addresses.push_back(resolve(pointer, arguments, counters_));
      std::memcpy(at, &addresses.back(), sizeof addresses.back());
      at += sizeof addresses.back();
    }
  }
  const auto known = std::ranges::find(bindings_, addresses, &Binding::addresses);
  if (known != bindings_.end()) {
    number_ = known->number;
    return;
  }
  number_ = next_number++;
  if (bindings_.size() == kKeptBindings) bindings_.erase(bindings_.begin());
  bindings_.push_back({std::move(addresses), number_});
}

}  // namespace assay::engine::cuda
