#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "engine/device/device.h"
#include "tensor/tensor.h"

namespace assay::engine {

// The forms of constants that kernels want.
class PackedWeights {
 public:
  virtual ~PackedWeights() = default;
  // `weights` in the form of this name in the memory of the kernel's device, `size_bytes` long; `fill` writes it, on
  // the host, where it is not kept yet. A kernel that has asked for a form does not read the constant itself any more.
  virtual Buffer get(const tensor::Tensor& weights, const std::string& form, uint64_t size_bytes,
                     const std::function<void(std::byte*)>& fill) = 0;
  // True if that form is kept: facts about the weights that were found before it was made hold still.
  virtual bool has(const tensor::Tensor& weights, const std::string& form) const = 0;
  // Gives back memory that it has only to be quick: others are about to need some.
  virtual void settle() {}
};

// Memory for forms, one behind the other. Pieces share pages of 2 MB, which the processor streams faster than small
// ones; they are given back together, once none of their forms is held any more.
class FormMemory {
 public:
  std::shared_ptr<std::byte> take(uint64_t size_bytes);

 private:
  std::shared_ptr<std::byte> piece(uint64_t begin) const;

  std::shared_ptr<std::byte> block_;
  uint64_t block_bytes_ = 0;
  uint64_t used_bytes_ = 0;
};

// Forms in the memory of the host that are made once and shared by all programs of a session; one that no kernel holds
// any more is dropped, unless it was preset. May be used from several threads.
class KeptWeights final : public PackedWeights {
 public:
  using Bytes = std::shared_ptr<const std::byte>;
  Buffer get(const tensor::Tensor& weights, const std::string& form, uint64_t size_bytes,
             const std::function<void(std::byte*)>& fill) override;
  bool has(const tensor::Tensor& weights, const std::string& form) const override;
  void settle() override;
  // A form that was made earlier, of the constant of that identity; it lies in memory, as of a file that is mapped.
  void preset(const void* weights, const std::string& form, const Bytes& bytes, uint64_t size_bytes);
  // The target of forms.
  struct Sink {
    std::function<void(const tensor::Tensor& weights)> begin;  // before a form of them is made
    // The bytes stay until it is called for the next form.
    std::function<void(const void* weights, const std::string& form, std::span<const std::byte> bytes)> add;
    std::function<void()> wait;  // until the bytes are needed no more
  };
  // Puts forms made from now on into the sink, where they take no memory: programs that have it cannot be run.
  void move_out(Sink sink);
  bool moves_out() const;

  // A form that a kernel holds, of the constant of that identity.
  struct Kept {
    const void* weights = nullptr;
    std::string form;
    Bytes bytes;
    uint64_t size_bytes = 0;
    uint64_t number = 0;  // in the order in which they were made
  };
  std::vector<Kept> kept() const;

 private:
  using Key = std::tuple<const void*, std::string>;  // identity_of() the constant's storage
  struct Form {
    std::weak_ptr<const std::byte> bytes;
    uint64_t size_bytes = 0;
    Bytes preset = nullptr;  // holds the bytes
    uint64_t number = 0;
  };
  void sweep();
  Bytes move_out(const tensor::Tensor& weights, const std::string& form, uint64_t size_bytes,
                 const std::function<void(std::byte*)>& fill);

  mutable std::mutex mutex_;
  std::map<Key, Form> forms_;
  FormMemory memory_;
  uint64_t made_ = 0;
  size_t sweep_at_ = 1024;  // forms
  struct Moved {
    std::shared_ptr<std::byte> bytes;
    uint64_t size_bytes = 0;
  };
  std::optional<Sink> sink_;      // nullopt: what is made stays in memory
  std::array<Moved, 2> buffers_;  // of what goes there, by turns
};

// Memory in place of forms, for kernels that are only measured, one after the other: each may have the memory of the
// one before. Many are looked up and never run, so that it has ordinary numbers only once it is filled.
class TrialWeights final : public PackedWeights {
 public:
  explicit TrialWeights(const Device& device) : device_(device) {}
  Buffer get(const tensor::Tensor& weights, const std::string& form, uint64_t size_bytes,
             const std::function<void(std::byte*)>& fill) override;
  bool has(const tensor::Tensor&, const std::string&) const override { return false; }
  void begin_next() { forms_.clear(); }
  void fill() const;
  std::vector<Extent> memory() const;

 private:
  struct Block {
    Buffer memory;
    bool is_filled = false;
  };
  const Device& device_;
  std::map<std::tuple<const void*, std::string>, size_t> forms_;  // of the present kernel, by block
  mutable std::vector<Block> blocks_;
};

// Gives the forms of another, and notes the constants that they are made of.
class NotedWeights final : public PackedWeights {
 public:
  explicit NotedWeights(PackedWeights& weights) : weights_(weights) {}
  Buffer get(const tensor::Tensor& weights, const std::string& form, uint64_t size_bytes,
             const std::function<void(std::byte*)>& fill) override;
  bool has(const tensor::Tensor& weights, const std::string& form) const override {
    return weights_.has(weights, form);
  }
  bool holds(const tensor::Tensor& weights) const;

 private:
  PackedWeights& weights_;
  std::vector<const void*> noted_;
};

}  // namespace assay::engine
