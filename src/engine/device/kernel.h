#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/layers/layer.h"

namespace assay::engine {

class Queue;

// Addresses of a layer's operands, results and scratch memory.
struct Arguments {
  std::vector<Address> inputs;
  std::vector<Address> outputs;
  Address workspace;
};

// A kernel bound to addresses, ready to run again and again. For one thread at a time.
class Call {
 public:
  virtual ~Call() = default;
  // Adds the work to the queue of its device. Addresses and the call itself must live until the queue has been waited
  // for.
  virtual void run(Queue& queue) = 0;
  // Sets other addresses for the runs that follow.
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
  // Variants for a layer that it can compute; `""` is the default variant.
  virtual std::vector<std::string> variants(const Layer&) const { return {""}; }
  // True if another implementation should be preferred when tactics are not measured.
  virtual bool yields(const Layer&) const { return false; }
  // A reason why it computes nothing, with what would help; empty: nothing is missing.
  virtual std::string missing() const { return {}; }
  // Makes the kernel for a layer whose descs have the strides of that layout where they are not constant. Returns null
  // if it cannot compute the layer in this variant.
  virtual std::unique_ptr<Kernel> make(const Layer& layer, std::string_view variant) const = 0;
};

}  // namespace assay::engine
