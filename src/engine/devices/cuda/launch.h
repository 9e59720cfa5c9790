#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/device/kernel.h"
#include "engine/devices/cuda/driver/tensor_map.h"
#include "engine/devices/cuda/programs.h"

namespace assay::engine::cuda {

// An address that a kernel is given: of an operand, a result, the workspace or the counters of the layer, or fixed.
struct Pointer {
  enum class Kind : uint8_t { input, output, workspace, counters, fixed };
  Kind kind = Kind::fixed;
  uint32_t index = 0;
  int64_t offset = 0;  // bytes, or the fixed address itself
};
inline Pointer input_pointer(size_t index, int64_t offset = 0) {
  return {Pointer::Kind::input, static_cast<uint32_t>(index), offset};
}
inline Pointer output_pointer(size_t index, int64_t offset = 0) {
  return {Pointer::Kind::output, static_cast<uint32_t>(index), offset};
}
inline Pointer workspace_pointer(int64_t offset = 0) { return {Pointer::Kind::workspace, 0, offset}; }
inline Pointer counters_pointer() { return {Pointer::Kind::counters, 0, 0}; }
inline Pointer fixed_pointer(Address address) { return {Pointer::Kind::fixed, 0, static_cast<int64_t>(address.value)}; }

// An operand that a kernel moves into shared memory by a map.
struct MappedOperand {
  Pointer pointer;
  TensorMap map;
};

// Work of a library, in the place of a kernel.
class ForeignLaunch {
 public:
  virtual ~ForeignLaunch() = default;
  // Adds the work to the stream, which may be captured, on a thread whose context is the card's.
  virtual void add(Stream stream, std::span<const uint64_t> addresses) const = 0;
};

// One kernel and what it is given: its text's `struct Params { Map maps[...]; void* at[...]; int n[...]; }`.
struct Launch {
  std::shared_ptr<const Program> program;
  std::array<unsigned, 3> grid = {1, 1, 1};
  unsigned threads = 1;
  unsigned shared_bytes = 0;
  bool begins_early = false;  // before the launch before it has ended, for which its text waits
  std::vector<MappedOperand> maps;
  std::vector<Pointer> pointers;
  std::vector<int32_t> numbers;
  std::shared_ptr<const ForeignLaunch> foreign = nullptr;  // is given the pointers alone; then there is no program

  void add(int64_t number) { numbers.push_back(static_cast<int32_t>(number)); }
  void add(float number) { numbers.push_back(std::bit_cast<int32_t>(number)); }
  // A divisor of numbers below 2^31, which the text's `divided` takes: three numbers.
  void add_divisor(int64_t divisor);
};

// Launches one after the other; and forms of constants that they read, which live as long.
struct Launches {
  std::vector<Launch> all;
  std::vector<Buffer> constants;
  uint64_t workspace_bytes = 0;
  uint64_t counter_bytes = 0;  // of each call: zeros, which its launches leave as zeros
};

std::unique_ptr<Kernel> make_kernel(Launches launches);
// The parameters of a launch without maps and counters.
std::vector<std::byte> parameters_of(const Launch& launch, const Arguments& arguments);

}  // namespace assay::engine::cuda
