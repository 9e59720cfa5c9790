#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/function_ref.h"
#include "tensor/tensor.h"

namespace assay::ops {

// One collective as a rank comes to it. Ranks that meet must say the same.
struct Collective {
  std::string name;              // of its node, or of its result
  std::string operand;           // type, as `float32[2, 8]`
  std::string_view operation;    // `all_reduce`
  std::string_view reduction;    // `sum`, or `none`
  std::vector<int64_t> members;  // the ranks that take part, in the order of their parts
  int64_t root = -1;             // the rank from or to which elements go; -1: none
};

// Elements of a member's part that a rank takes.
struct Piece {
  size_t part = 0;  // in the order of members
  uint64_t begin = 0;
  uint64_t count = 0;
};

// Way in which a rank combines the parts of all members.
struct Combination {
  bool reduces = false;       // the elements of `pieces.front()`, of all parts, are reduced in the order of members
  std::vector<Piece> pieces;  // otherwise these are put one behind the other
};

// The combination that a rank makes of parts with so many elements. Error (shape) if the root is no member.
Combination combination_of(const Collective& collective, int64_t rank, uint64_t count);

// Errors of a rank that does not do in time what the others wait for (`come to`), that has ended before, and of two
// that have come to different collectives.
Error rank_is_late(int64_t rank, std::string_view what, const Collective& collective, double seconds);
Error rank_has_ended(int64_t rank, const Collective& collective);
Error ranks_differ(int64_t rank, const Collective& own, int64_t other, const Collective& of_other);

// Kernels of cards that wait for those of other ranks, as they hear of a run. Called from any thread.
class WaitingKernels {
 public:
  virtual ~WaitingKernels() = default;
  // All ranks are there.
  virtual void begin() = 0;
  // A rank has come to its end; its kernels have.
  virtual void leave(int64_t rank) = 0;
  // Nobody is waited for any more.
  virtual void fail() = 0;
};

// The right to let kernels of cards wait for each other, which one run of the process has: those of two could hold
// different cards and wait for each other.
class WaitingTurn {
 public:
  WaitingTurn() = default;
  ~WaitingTurn() { give_back(); }
  WaitingTurn(const WaitingTurn&) = delete;
  WaitingTurn& operator=(const WaitingTurn&) = delete;
  bool is_taken() const { return is_taken_; }
  void take();  // if nobody has it
  void give_back();

 private:
  bool is_taken_ = false;
};
// Does what may wait for the kernels of all cards, if no run has that right; none gets it meanwhile. False: one has it.
bool unless_kernels_wait(FunctionRef<void()> fn);

// The ranks that run the parts of one model at once, as one of them sees them.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int64_t rank() const = 0;
  virtual int64_t count() const = 0;
  // True if the user wants a library for collectives between cards where it serves them best.
  virtual bool uses_library() const { return false; }
  // A number that all ranks of a run see, another one after each run that failed: what was agreed upon is void then.
  // Nullopt: these ranks do not tell runs apart.
  virtual std::optional<uint64_t> era() const = 0;
  // True if kernels of this run may wait for those of other ranks. Those of two runs could keep each other from cards.
  virtual bool may_wait() const = 0;
  virtual double deadline_seconds() const = 0;
  // From now on these kernels hear of runs, as long as they are there.
  virtual void tell(std::weak_ptr<WaitingKernels> kernels) = 0;
  // Ends the run of all by what this rank has found at a collective. Throws the error that ends it, the first one.
  [[noreturn]] virtual void end(Error error) = 0;
  // Data that members share as long as they are there: the first of them makes it while they meet.
  virtual std::shared_ptr<void>& shared(const std::vector<int64_t>& members) = 0;
  // Waits until all members have come with their tensors, shows these to `combine` in the order of members, and returns
  // when all members have looked at them. Error names the rank that does not come, or that came with something else.
  virtual void meet(const Collective& collective, const tensor::Tensor& mine,
                    FunctionRef<void(std::span<const tensor::Tensor> parts)> combine) = 0;
};

// While it lives, models that run in its thread are the part of that rank.
class RanksScope {
 public:
  explicit RanksScope(Ranks& ranks);
  ~RanksScope();
  RanksScope(const RanksScope&) = delete;
  RanksScope& operator=(const RanksScope&) = delete;

 private:
  Ranks* outer_;
};

// Returns the ranks of the calling thread. Error (unsupported) outside of a scope: the model of one rank runs by
// itself.
Ranks& current_ranks();

// The members of a collective with these attributes that the rank meets there: `groups` lists devices, one group of
// `group_size` after the other; none listed: neighbours; a size of 0: all. Error (shape) if it is in no group.
std::vector<int64_t> members_of(std::span<const int64_t> groups, int64_t group_size, const Ranks& ranks);

class Node;
// The collective that a node asks for, on an operand of this type, as the rank comes to it.
Collective collective_of(const Node& node, tensor::DType dtype, std::span<const int64_t> shape, const Ranks& ranks);

}  // namespace assay::ops
