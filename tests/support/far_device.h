#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "engine/device/device.h"
#include "engine/device/host_marks.h"
#include "engine/weights/packed_weights.h"

namespace assay::testing_support {
namespace far {

// The layers that the far device leaves to others.
enum class Refuses : uint8_t { nothing, some, others };

// What queues and memory of one far device have in common: what was transferred, and failures on purpose.
struct State {
  std::atomic<int> uploads = 0;
  std::atomic<int> downloads = 0;
  std::atomic<uint64_t> downloaded_bytes = 0;
  std::atomic<int64_t> held_bytes = 0;
  std::atomic<int> copies = 0;
  std::atomic<int> submits = 0;
  std::optional<uint64_t> followed;        // the stream of a caller
  std::atomic<int> allocations_left = -1;  // 0: the next one fails; below: none does
  std::atomic<int> kernels_left = -1;      // likewise, at the wait
  std::atomic<int> downloads_left = -1;    // likewise
  std::chrono::milliseconds delay{};       // of each wait, before its work
  std::atomic<int> tf32_layers = 0;        // that kernels were asked for with this permission
};

inline void count_down(std::atomic<int>& left, assay::ErrorCode code, const char* message) {
  if (left >= 0 && left-- == 0) throw assay::Error(code, message);
}

inline constexpr uint64_t kShift = uint64_t{1} << 62;  // beyond all pointers

inline engine::Buffer far_from(engine::Buffer host) {
  host.first.value += kShift;
  return host;
}

inline engine::Address near_from(engine::Address far) {
  if (far.value == 0) return {};  // an operand that is left out, or not read
  if (far.value < kShift / 2) throw std::logic_error("the far device is given a pointer of the host");
  return {far.value - kShift};
}

inline engine::Arguments near_from(const engine::Arguments& far) {
  engine::Arguments near;
  for (const engine::Address address : far.inputs) near.inputs.push_back(near_from(address));
  for (const engine::Address address : far.outputs) near.outputs.push_back(near_from(address));
  near.workspace = near_from(far.workspace);
  return near;
}

class FarQueue final : public engine::Queue {
 public:
  FarQueue(std::unique_ptr<engine::Queue> near, std::shared_ptr<State> state)
      : near_(std::move(near)), state_(std::move(state)) {}

  void upload(std::span<const std::byte> from, engine::Address to) override {
    add([=, this](engine::Queue&) {
      ++state_->uploads;
      std::memcpy(engine::host_bytes(near_from(to)), from.data(), from.size());
    });
  }
  void download(engine::Address from, std::span<std::byte> to) override {
    add([=, this](engine::Queue&) {
      count_down(state_->downloads_left, ErrorCode::backend, "a download failed on purpose");
      ++state_->downloads;
      state_->downloaded_bytes += to.size();
      std::memcpy(to.data(), engine::host_bytes(near_from(from)), to.size());
    });
  }
  void copy(engine::Address from, engine::Address to, uint64_t bytes) override {
    add([=, this](engine::Queue&) {
      ++state_->copies;
      std::memmove(engine::host_bytes(near_from(to)), engine::host_bytes(near_from(from)), bytes);
    });
  }
  void follow(std::optional<uint64_t> stream) override { state_->followed = stream; }
  void submit() override { ++state_->submits; }
  void wait() override {
    const std::vector<std::function<void(engine::Queue&)>> work = std::move(work_);
    work_.clear();
    if (!work.empty()) std::this_thread::sleep_for(state_->delay);
    for (const auto& piece : work) piece(*near_);
    near_->wait();
  }
  void mark() override {
    add([this](engine::Queue&) { marks_.add(); });
  }
  std::vector<double> seconds() override { return marks_.take(); }
  void add(std::function<void(engine::Queue&)> piece) { work_.push_back(std::move(piece)); }
  void run(engine::Call& call) {
    add([&call, this](engine::Queue& near) {
      count_down(state_->kernels_left, ErrorCode::backend, "a kernel failed on purpose");
      call.run(near);
    });
  }

 private:
  std::unique_ptr<engine::Queue> near_;
  std::shared_ptr<State> state_;
  std::vector<std::function<void(engine::Queue&)>> work_;
  engine::HostMarks marks_;
};

class FarCall final : public engine::Call {
 public:
  explicit FarCall(std::unique_ptr<engine::Call> near) : near_(std::move(near)) {}
  void run(engine::Queue& queue) override { dynamic_cast<FarQueue&>(queue).run(*near_); }
  void rebind(const engine::Arguments& arguments) override { near_->rebind(near_from(arguments)); }
  engine::Call& near() { return *near_; }

 private:
  std::unique_ptr<engine::Call> near_;
};

class FarKernel final : public engine::Kernel {
 public:
  explicit FarKernel(std::unique_ptr<engine::Kernel> near) : near_(std::move(near)) {}
  uint64_t workspace_bytes() const override { return near_->workspace_bytes(); }
  std::unique_ptr<engine::Call> bind(const engine::Arguments& arguments) const override {
    return std::make_unique<FarCall>(near_->bind(near_from(arguments)));
  }

 private:
  std::unique_ptr<engine::Kernel> near_;
};

inline std::unique_ptr<engine::Kernel> made_far(std::unique_ptr<engine::Kernel> near) {
  return near ? std::make_unique<FarKernel>(std::move(near)) : nullptr;
}

// Forms of the far device, where the kernels of the host find them.
class NearWeights final : public engine::PackedWeights {
 public:
  explicit NearWeights(engine::PackedWeights& far) : far_(far) {}
  engine::Buffer get(const tensor::Tensor& weights, const std::string& form, uint64_t size_bytes,
                     const std::function<void(std::byte*)>& fill) override {
    engine::Buffer given = far_.get(weights, form, size_bytes, fill);
    given.first = near_from(given.first);
    return given;
  }
  bool has(const tensor::Tensor& weights, const std::string& form) const override { return far_.has(weights, form); }
  void settle() override { far_.settle(); }

 private:
  engine::PackedWeights& far_;
};

class FarImplementation final : public engine::Implementation {
 public:
  FarImplementation(const engine::Implementation& near, Refuses refuses, std::shared_ptr<State> state)
      : near_(near), refuses_(refuses), state_(std::move(state)) {}
  std::string_view name() const override { return near_.name(); }
  std::vector<std::string> variants(const engine::Layer& layer) const override { return near_.variants(layer); }
  bool yields(const engine::Layer& layer) const override { return near_.yields(layer); }
  std::unique_ptr<engine::Kernel> make(const engine::Layer& layer, std::string_view variant) const override {
    if (is_refused(layer)) return nullptr;
    if (layer.permits_tf32) ++state_->tf32_layers;
    engine::Layer own = layer;
    NearWeights weights(*layer.packed);
    own.packed = &weights;
    return made_far(near_.make(own, variant));
  }

 private:
  bool is_refused(const engine::Layer& layer) const {
    const std::string_view name = engine::layer_name(*layer.model, layer.node);
    const bool is_even = std::accumulate(name.begin(), name.end(), 0) % 2 == 0;
    return refuses_ != Refuses::nothing && is_even == (refuses_ == Refuses::some);
  }

  const engine::Implementation& near_;
  Refuses refuses_;
  std::shared_ptr<State> state_;
};

}  // namespace far

// A device whose addresses are not pointers of this process and whose work is done only when its queue is waited for.
// It computes with the kernels of the host: whatever it finds wrong, a real device would find too.
class FarDevice final : public engine::Device {
 public:
  explicit FarDevice(const engine::Device& host, far::Refuses refuses = far::Refuses::nothing, std::string name = "far")
      : host_(host), name_(std::move(name)), rules_(host.rules()), free_bytes_(host.free_bytes()) {
    for (const engine::Implementation* const near : host.implementations()) {
      owned_.push_back(std::make_unique<far::FarImplementation>(*near, refuses, state_));
      all_.push_back(owned_.back().get());
    }
  }

  std::string_view name() const override { return name_; }
  bool is_host() const override { return false; }
  engine::LayoutRule layout_rule(const engine::Layer& layer) const override { return host_.layout_rule(layer); }
  std::span<const engine::Implementation* const> implementations() const override { return all_; }
  const engine::LoweringRules& rules() const override { return rules_; }
  std::unique_ptr<engine::Kernel> make_copy(const engine::TensorDesc& from,
                                            const engine::TensorDesc& to) const override {
    return far::made_far(host_.make_copy(from, to));
  }
  engine::Buffer allocate(uint64_t size_bytes) const override {
    far::count_down(state_->allocations_left, ErrorCode::limit, "far has no memory left on purpose");
    const engine::Buffer near = host_.allocate(size_bytes);
    state_->held_bytes += static_cast<int64_t>(size_bytes);
    const auto give_back = [near, state = state_](const void*) {
      std::memset(engine::host_bytes(near.first), 0xff, near.bytes);  // whoever still reads it sees no numbers
      state->held_bytes -= static_cast<int64_t>(near.bytes);
    };
    return far::far_from({near.first, near.bytes, std::shared_ptr<const void>(near.owner.get(), give_back)});
  }
  std::optional<engine::Buffer> lent(uint64_t address, uint64_t size_bytes) const override {
    if (address < far::kShift / 2) return std::nullopt;
    return engine::Buffer{{address}, size_bytes, nullptr};
  }
  void fill_sample(const engine::Buffer& buffer, tensor::DType dtype) const override {
    host_.fill_sample({far::near_from(buffer.first), buffer.bytes, buffer.owner}, dtype);
  }
  uint64_t alignment() const override { return 256; }
  uint64_t free_bytes() const override { return free_bytes_; }
  void set_free_bytes(uint64_t bytes) { free_bytes_ = bytes; }
  std::unique_ptr<engine::Queue> make_queue() const override {
    return std::make_unique<far::FarQueue>(host_.make_queue(), state_);
  }
  double measure(engine::Call& call, double budget, std::span<const engine::Extent>) const override {
    return host_.measure(dynamic_cast<far::FarCall&>(call).near(), budget, {});
  }
  far::State& state() const { return *state_; }
  std::shared_ptr<far::State> shared_state() const { return state_; }
  engine::LoweringRules& own_rules() { return rules_; }
  uint64_t cache_bytes() const override { return host_.cache_bytes(); }
  engine::Fingerprint fingerprint() const override {
    engine::Fingerprint found = host_.fingerprint();
    found.device = name();
    return found;
  }

 private:
  const engine::Device& host_;
  const std::string name_;
  const std::shared_ptr<far::State> state_ = std::make_shared<far::State>();
  engine::LoweringRules rules_;
  std::vector<std::unique_ptr<engine::Implementation>> owned_;
  std::vector<const engine::Implementation*> all_;
  uint64_t free_bytes_;
};

}  // namespace assay::testing_support
