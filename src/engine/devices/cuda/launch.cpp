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

// Parameters whose maps and addresses are still to be set.
std::vector<std::byte> with_numbers(const Launch& launch) {
  constexpr size_t kMapsAlignment = 64;
  const size_t alignment = launch.maps.empty() ? sizeof(uint64_t) : kMapsAlignment;
  const size_t first_number = launch.maps.size() * sizeof(EncodedMap) + launch.pointers.size() * sizeof(uint64_t);
  const size_t bytes = first_number + launch.numbers.size() * sizeof(int32_t);
  std::vector<std::byte> parameters((bytes + alignment - 1) / alignment * alignment);
  std::memcpy(parameters.data() + first_number, launch.numbers.data(), launch.numbers.size() * sizeof(int32_t));
  return parameters;
}

// True if the blocks of a launch find room beside those of the one before it. Of more, some would wait where others
// could work; and those that hold much shared memory keep others from it.
bool fits_beside(const Launch& launch) {
  constexpr unsigned kMuchShared = 16 << 10;
  const uint64_t blocks = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  return launch.shared_bytes <= kMuchShared &&
         blocks <= 2 * static_cast<uint64_t>(launch.program->card().multiprocessors());
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

std::unique_ptr<Kernel> make_kernel(Launches launches) {
  for (Launch& launch : launches.all) launch.begins_early = launch.begins_early || fits_beside(launch);
  return std::make_unique<LaunchedKernel>(std::move(launches));
}

std::vector<std::byte> parameters_of(const Launch& launch, const Arguments& arguments) {
  std::vector<std::byte> parameters = with_numbers(launch);
  for (size_t i = 0; i < launch.pointers.size(); ++i) {
    const uint64_t address = resolve(launch.pointers[i], arguments, {});
    std::memcpy(parameters.data() + i * sizeof address, &address, sizeof address);
  }
  return parameters;
}

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
  for (const Launch& launch : launches_->all) parameters_.push_back(with_numbers(launch));
  rebind(arguments);
}

void LaunchedCall::run(Queue& queue) { dynamic_cast<LaunchQueue&>(queue).add(*this); }

uint64_t LaunchedCall::even_address(const TensorMap& map, uint64_t address) {
  if (address % kMapAlignment == 0) return address;
  copies_.push_back({address, launches_->all.front().program->card().allocate(map.bytes())});
  return copies_.back().to.first.value;
}

void LaunchedCall::rebind(const Arguments& arguments) {
  std::vector<uint64_t> addresses;
  copies_.clear();
  for (size_t i = 0; i < launches_->all.size(); ++i) {
    std::byte* at = parameters_[i].data();
    for (const MappedOperand& operand : launches_->all[i].maps) {
      addresses.push_back(resolve(operand.pointer, arguments, counters_));
      const EncodedMap map =
          encoded(launches_->all[i].program->card(), operand.map, even_address(operand.map, addresses.back()));
      std::memcpy(at, map.data(), map.size());
      at += map.size();
    }
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
