#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/device/fingerprint.h"
#include "engine/device/kernel.h"
#include "engine/device/kernel_code.h"
#include "engine/device/lowering_rules.h"
#include "engine/layers/layout_rule.h"

namespace assay::engine {

// Work for one device, done in the order in which it was added. Belongs to one execution; for one thread at a time.
class Queue {
 public:
  virtual ~Queue() = default;
  // `from` must stay as it is until wait().
  virtual void upload(std::span<const std::byte> from, Address to) = 0;
  // `to` is filled after wait().
  virtual void download(Address from, std::span<std::byte> to) = 0;
  // From one place of the device to another.
  virtual void copy(Address from, Address to, uint64_t bytes) = 0;
  // Work that is added from now on is done in the order of a stream of the caller, by the handle that the device's
  // driver gave it. Nullopt: of its own.
  virtual void follow(std::optional<uint64_t> stream) = 0;
  // Starts the work; wait() does, too.
  virtual void submit() = 0;
  // Returns once all work is done. Throws the error of any work since the last call.
  virtual void wait() = 0;
  // Adds a mark for times.
  virtual void mark() = 0;
  // Seconds from mark to mark since the last call, of work that is done.
  virtual std::vector<double> seconds() = 0;
};

// Hardware that layers run on.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;
  // Place among devices of one kind.
  virtual int number() const { return 0; }
  // True if its addresses are pointers of this process, and its work is done when a call returns.
  virtual bool is_host() const = 0;
  virtual LayoutRule layout_rule(const Layer& layer) const = 0;
  // Implementations, in order of preference.
  virtual std::span<const Implementation* const> implementations() const = 0;
  virtual const LoweringRules& rules() const = 0;
  // Changes the rules so that no layer needs that implementation, where lowering makes layers for it alone.
  virtual void leave_out(std::string_view, LoweringRules&) const {}
  // Copies a tensor from one layout to another.
  virtual std::unique_ptr<Kernel> make_copy(const TensorDesc& from, const TensorDesc& to) const = 0;
  // Memory that suits its kernels. Error (limit) that names it if there is none left.
  virtual Buffer allocate(uint64_t size_bytes) const = 0;
  // Memory of the device that the caller vouches for, by its address in this process. Nullopt: it is the host's. Error
  // (unsupported): that of another device.
  virtual std::optional<Buffer> lent(uint64_t address, uint64_t size_bytes) const = 0;
  // Fills memory with ordinary numbers, to measure kernels on; of an undefined type: with such of any float.
  virtual void fill_sample(const Buffer& buffer, tensor::DType dtype) const = 0;
  // Multiple of bytes at which values begin.
  virtual uint64_t alignment() const = 0;
  // Bytes that a program can still take.
  virtual uint64_t free_bytes() const = 0;
  virtual std::unique_ptr<Queue> make_queue() const = 0;
  // Seconds of a run, without other uses of the device meanwhile: the least of as many runs as fit into `budget`, of
  // two at least. `cold` memory is in no cache when a run begins.
  virtual double measure(Call& call, double budget, std::span<const Extent> cold) const = 0;
  // Bytes that are as fast as a cache when they are read again soon enough.
  virtual uint64_t cache_bytes() const = 0;
  virtual Fingerprint fingerprint() const = 0;
  // Compiles and loads what the kernels made so far lack; until then they do so when they run first.
  virtual void load_kernels() const {}
  // Code of the kernels in use; empty: it is part of this program.
  virtual std::vector<KernelCode> code() const { return {}; }
  // Code from elsewhere, for kernels that are made as long as somebody holds it.
  virtual void offer(const KernelCode&) const {}
};

// Devices of a program in order of preference; the last one is the host. They outlive it.
class Devices {
 public:
  explicit Devices(const Device& host) : all_{&host} {}  // alone
  explicit Devices(std::vector<const Device*> all) : all_(std::move(all)) {}

  size_t count() const { return all_.size(); }
  size_t host() const { return all_.size() - 1; }
  const Device& operator[](size_t number) const { return *all_[number]; }
  const Device& first() const { return *all_.front(); }

 private:
  std::vector<const Device*> all_;
};

}  // namespace assay::engine
