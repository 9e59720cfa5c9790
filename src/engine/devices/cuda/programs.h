#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/device/kernel_code.h"
#include "engine/devices/cuda/driver/card.h"
#include "engine/devices/cuda/nvrtc/compiler.h"
#include "engine/devices/cuda/nvrtc/cubin_cache.h"

namespace assay::engine::cuda {

// A kernel, named `kernel` in a module of its own, which is compiled and loaded when it is needed first. May be used
// from several threads.
class Program {
 public:
  Program(std::shared_ptr<const Card> card, std::function<KernelCode()> make_code)
      : card_(std::move(card)), make_code_(std::move(make_code)) {}
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const Card& card() const { return *card_; }
  void load() const;
  Function function() const;
  const KernelCode& code() const;
  // Lets the kernel have so much dynamic shared memory.
  void allow_shared(uint64_t bytes) const;

 private:
  void set_shared() const;

  std::shared_ptr<const Card> card_;
  std::function<KernelCode()> make_code_;
  mutable std::mutex mutex_;
  mutable KernelCode code_;
  mutable uint64_t shared_bytes_ = 0;
  mutable Module module_ = nullptr;
  mutable Function function_ = nullptr;  // null: not loaded
};

// Kernels of one card by their texts, each compiled and loaded once. May be used from several threads.
class Programs {
 public:
  Programs(std::shared_ptr<const Card> card, const Compiler& compiler, CubinCache cache)
      : card_(std::move(card)), compiler_(compiler), cache_(std::move(cache)) {}

  const Card& card() const { return *card_; }
  // The kernel of a text, to which the machine's text is put in front.
  std::shared_ptr<const Program> get(const std::string& text);
  // Loads all that are not loaded yet, on all threads.
  void load();
  // Code of the kernels that somebody holds, loaded.
  std::vector<KernelCode> code();
  // Code that is used for the text that its name tells, as long as its owner holds it.
  void offer(const KernelCode& code);
  // A table in the card's memory.
  Buffer upload(std::span<const std::byte> bytes) const;

 private:
  std::vector<std::shared_ptr<const Program>> held();
  KernelCode make_code(const std::string& text);
  std::shared_ptr<const std::byte> offered(const std::string& name, uint64_t& bytes);

  struct Offered {
    std::weak_ptr<const std::byte> first;
    uint64_t bytes = 0;
  };
  std::shared_ptr<const Card> card_;
  const Compiler& compiler_;
  CubinCache cache_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Program>> programs_;  // by text
  std::vector<std::shared_ptr<const Program>> made_;                // since the last load()
  std::map<std::string, Offered> offered_;                          // by name
};

}  // namespace assay::engine::cuda
