#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "tensor/datum.h"

namespace assay::ops {

// Counts the bytes of what a run computed, each storage once, as long as anything holds it: a value, a sequence, the
// outputs that a loop collects, with what else the run was given memory for.
class LiveMemory {
 public:
  explicit LiveMemory(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // Counts the storages of an output that are not those of an input, which it may show in another shape.
  void add(const tensor::Datum& output, std::span<const tensor::Datum> inputs);
  // Memory that is no storage's.
  void hold(uint64_t bytes) { held_bytes_ += bytes; }
  void give_back(uint64_t bytes) { held_bytes_ -= bytes; }
  // Error (limit) unless so many bytes may still be taken.
  void require(uint64_t bytes);
  // Bytes that may still be taken. Whether all of `wanted` are, is exact; beyond that it may say too little.
  uint64_t left(uint64_t wanted);

 private:
  struct Entry {
    std::weak_ptr<const tensor::Storage> storage;
    uint64_t bytes = 0;
  };

  void add(const tensor::Tensor& tensor);
  void sweep();

  uint64_t most_bytes_;
  uint64_t bytes_ = 0;  // of all entries, dead ones too
  uint64_t held_bytes_ = 0;
  size_t sweep_at_ = 1024;
  std::unordered_map<const tensor::Storage*, Entry> entries_;
};

}  // namespace assay::ops
