#include "engine/devices/cpu/device.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/large_memory.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "engine/device/host_marks.h"
#include "engine/devices/cpu/busy_watch.h"
#include "engine/devices/cpu/caches.h"
#include "engine/devices/cpu/copy.h"
#include "engine/devices/cpu/integers/integer_layer.h"
#include "engine/devices/cpu/onednn/library.h"
#include "engine/devices/cpu/processor.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/layers/form.h"
#include "engine/layers/layout_rule.h"

namespace assay::engine::cpu {
namespace {

// True for a Resize that gives the model's outputs more than it reads: what it reads is moved then, not its result.
bool grows_for_output(const Layer& layer) {
  const bool grows = form_as<ResizeForm>(layer) != nullptr && layer.outputs[0].count() > layer.inputs[0].count();
  if (!grows) return false;
  const ir::Model& model = *layer.model;
  for (const ir::Use& use : ir::uses(model, layer.result(layer.nodes[0], 0)))
    if (!model[use.user].is_outputs) return false;
  return true;
}

class PlainCall final : public Call {
 public:
  PlainCall(const PlainKernel& kernel, Arguments arguments) : kernel_(kernel), arguments_(std::move(arguments)) {}
  void run(Queue&) override { kernel_.run(arguments_); }
  void rebind(const Arguments& arguments) override { arguments_ = arguments; }

 private:
  const PlainKernel& kernel_;
  Arguments arguments_;
};

// Everything is done when it is added.
class CpuQueue final : public Queue {
 public:
  void upload(std::span<const std::byte> from, Address to) override {
    std::memcpy(host_bytes(to), from.data(), from.size());
  }
  void download(Address from, std::span<std::byte> to) override { std::memcpy(to.data(), host_bytes(from), to.size()); }
  void copy(Address from, Address to, uint64_t bytes) override { std::memcpy(host_bytes(to), host_bytes(from), bytes); }
  void follow(std::optional<uint64_t>) override {}
  void submit() override {}
  void wait() override {}
  void mark() override { marks_.add(); }
  std::vector<double> seconds() override { return marks_.take(); }

 private:
  HostMarks marks_;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const Libraries& libraries) : libraries_(libraries) {
    for (const Registered<KernelFamily>& family : registered_kernels()) {
      for (std::unique_ptr<Implementation>& made : family.make().make(libraries)) owned_.push_back(std::move(made));
    }
    for (const std::unique_ptr<Implementation>& made : owned_) all_.push_back(made.get());
    rules_.has_wide_kinds = true;
    rules_.turns_neighbours = true;
    rules_.selects_matrices = true;
    rules_.most_chain_values = Tape::kMostRegisters - 1;
    if (!multiplies_bf16_fast()) rules_.computes = {tensor::DType::float32};
  }

  std::string_view name() const override { return "cpu"; }
  bool is_host() const override { return true; }

  LayoutRule layout_rule(const Layer& layer) const override {
    const LayoutRule rule = usual_layout_rule(layer);
    if (rule == LayoutRule::follows && grows_for_output(layer)) return LayoutRule::plain;
    return rule == LayoutRule::plain && find_integer_layer(layer) ? LayoutRule::follows : rule;
  }

  std::span<const Implementation* const> implementations() const override { return all_; }
  const LoweringRules& rules() const override { return rules_; }
  std::unique_ptr<Kernel> make_copy(const TensorDesc& from, const TensorDesc& to) const override {
    return cpu::make_copy(from, to);
  }

  Buffer allocate(uint64_t size_bytes) const override {
    std::shared_ptr<void> memory(allocate_large(std::max<uint64_t>(size_bytes, 1)), FreeLarge());
    return {host_address(memory.get()), size_bytes, memory};
  }
  std::optional<Buffer> lent(uint64_t, uint64_t) const override { return std::nullopt; }
  void fill_sample(const Buffer& buffer, tensor::DType dtype) const override {
    std::byte* const bytes = host_bytes(buffer.first);
    if (dtype == tensor::DType::float32) {
      auto* const numbers = reinterpret_cast<float*>(bytes);
      for (uint64_t i = 0; i < buffer.bytes / sizeof(float); ++i)
        numbers[i] = 0.25F + static_cast<float>(i % 7) * 0.125F;
    } else if (dtype == tensor::DType::undefined) {
      constexpr uint16_t kOrdinary = 0x3e80;  // 0.25 in bfloat16 and, twice, in float32; 1.625 in float16
      auto* const numbers = reinterpret_cast<uint16_t*>(bytes);
      std::fill_n(numbers, buffer.bytes / sizeof(kOrdinary), kOrdinary);
    } else {
      std::memset(bytes, 0, buffer.bytes);
    }
  }

  double measure(Call& call, double budget, std::span<const Extent> cold) const override {
    constexpr int kMost = 32;  // runs
    CpuQueue queue;
    call.run(queue);
    double least = std::numeric_limits<double>::infinity();
    double spent = 0;
    for (int run = 0; run < 2 || (run < kMost && spent < budget); ++run) {
      for (const Extent& extent : cold) forget(cpu::host<const std::byte>(extent.first), extent.bytes);
      const BusyWatch watch;
      call.run(queue);
      const double taken = watch.seconds(thread_count());
      least = std::min(least, taken);
      spent += taken;
    }
    return least;
  }

  uint64_t alignment() const override { return 64; }
  uint64_t free_bytes() const override { return available_memory_bytes(); }
  std::unique_ptr<Queue> make_queue() const override { return std::make_unique<CpuQueue>(); }
  uint64_t cache_bytes() const override { return cpu::cache_bytes(); }

  Fingerprint fingerprint() const override {
    Fingerprint found{.device = "cpu", .parts = processor_parts(), .threads = thread_count()};
    found.parts.push_back({"oneDNN", libraries_.onednn == nullptr ? "none" : libraries_.onednn->version()});
    return found;
  }

 private:
  Libraries libraries_;
  LoweringRules rules_;
  Implementations owned_;
  std::vector<const Implementation*> all_;
};

}  // namespace

std::unique_ptr<Call> PlainKernel::bind(const Arguments& arguments) const {
  return std::make_unique<PlainCall>(*this, arguments);
}

std::unique_ptr<Device> make_device(const Libraries& libraries) { return std::make_unique<CpuDevice>(libraries); }

}  // namespace assay::engine::cpu
