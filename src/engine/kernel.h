#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/layer.h"

namespace assay::engine {

// A place in a device's memory; only the device knows what it means.
struct Address {
  uint64_t value = 0;
  Address operator+(uint64_t bytes) const { return {value + bytes}; }
};

struct Extent {
  Address first;
  uint64_t bytes = 0;
};

// Where a layer's operands, results and scratch memory are.
struct Arguments {
  std::vector<Address> inputs;
  std::vector<Address> outputs;
  Address workspace;
};

// A kernel bound to addresses, ready to run again and again. For one thread at a time.
class Call {
 public:
  virtual ~Call() = default;
  virtual void run() = 0;
  // Other addresses for the runs that follow.
  virtual void rebind(const Arguments& arguments) = 0;
};

// A layer prepared for its shapes and constants. Shared by all executions.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual uint64_t workspace_bytes() const { return 0; }
  virtual std::unique_ptr<Call> bind(const Arguments& arguments) const = 0;
};

// A way to compute layers, in one family of kernels. It and one of its variants are a tactic, `conv.onednn:channels`;
// names are stable, because timing caches, replays and plans hold them.
class Implementation {
 public:
  virtual ~Implementation() = default;
  virtual std::string_view name() const = 0;  // `conv.onednn`
  // Of a layer that it may compute; what it takes by itself is `""`.
  virtual std::vector<std::string> variants(const Layer&) const { return {""}; }
  // Whether it leaves a layer to others, if any of them computes it, where nothing is measured.
  virtual bool yields(const Layer&) const { return false; }
  // The kernel for a layer whose descs have the strides of that layout where they are not constant; null: it does not
  // compute such layers, or not in this variant.
  virtual std::unique_ptr<Kernel> make(const Layer& layer, std::string_view variant) const = 0;
};

// What a layer wants its operands and results to lie like.
enum class LayoutRule : uint8_t {
  plain,
  channels_last,
  follows,  // any, the same for all operands that are not constant and for all results
};

// Where layers run.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;
  virtual LayoutRule layout_rule(const Layer& layer) const = 0;
  // Those that may compute layers, best first.
  virtual std::span<const Implementation* const> implementations() const = 0;
  // Whether products of it are at least as fast as those of float32.
  virtual bool multiplies(tensor::DType dtype) const = 0;
  // Copies a tensor from one layout to another.
  virtual std::unique_ptr<Kernel> make_copy(const TensorDesc& from, const TensorDesc& to) const = 0;
  // Memory of the device, aligned for its kernels; it is given back with the pointer.
  virtual std::shared_ptr<const Address> allocate(uint64_t size_bytes) const = 0;
  // The same, filled with ordinary numbers, to measure kernels on.
  virtual std::shared_ptr<const Address> allocate_sample(tensor::DType dtype, uint64_t size_bytes) const = 0;
  // Seconds of a run, without what others used the device for meanwhile: the least of as many as fit into `budget`, of
  // two at least. What is `cold` is in no cache when a run begins.
  virtual double measure(Call& call, double budget, std::span<const Extent> cold) const = 0;
  // What it reads again soon enough is as fast as a cache.
  virtual uint64_t cache_bytes() const = 0;
  // What measurements and packed weights depend on: processor, libraries, number of threads.
  virtual std::string fingerprint() const = 0;
  // Where bytes of the host are for kernels; the bytes must outlive their use.
  virtual Address host(const void* bytes) const = 0;
};

}  // namespace assay::engine
