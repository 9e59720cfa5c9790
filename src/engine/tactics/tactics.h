#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/device/device.h"
#include "engine/tactics/timing_cache.h"
#include "engine/weights/packed_weights.h"

namespace assay::engine {

// Options for finding the tactic of each layer.
struct TacticOptions {
  bool measures = false;                                     // false: the first that computes the layer
  double seconds_per_tactic = 0.01;                          // of measuring
  uint64_t most_measured = 0;                                // tactics of a layer; 0: all
  bool is_cache_complete = false;                            // Error where it does not have a measurement
  uint64_t most_workspace_bytes = UINT64_MAX;                // kernels that want more are not used
  std::shared_ptr<TimingCache> cache;                        // of measurements; null: of this program alone
  std::map<std::string, std::string, std::less<>> replayed;  // by layer_name: the only tactic for it
  std::vector<std::string> families;                         // implementations that are used; empty: all
  std::vector<std::string> excluded;                         // tactics, or all of an implementation
  std::map<std::string, std::vector<std::string>, std::less<>> excluded_of;  // excluded ones by layer_name
};

// Names of tactics for steps that have none of their own: the reference operators, and parts, which have tactics
// inside.
inline constexpr std::string_view kReferenceTactic = "reference";
inline constexpr std::string_view kPartTactic = "part";

// Finds the kernels of layers.
class TacticSelector {
 public:
  TacticSelector(const Device& device, const TacticOptions& options);
  // Tells how many bytes of constants the program reads: if caches cannot hold them, those of a layer are in none when
  // it runs, and so when it is measured.
  void expect_constants(uint64_t bytes) { has_cold_constants_ = bytes > device_.cache_bytes(); }

  struct Choice {
    std::unique_ptr<Kernel> kernel;  // null: nothing computes the layer as its operands lie
    std::string tactic;
    std::vector<bool> is_packed = {};  // by input: a constant that the kernel does not read
  };
  Choice choose(const Layer& layer) const;
  // The tactic that a replay prescribes; empty: none.
  std::string_view replayed(const Layer& layer) const;
  // A reason why the family of a tactic computes nothing; empty: nothing is missing.
  std::string missing(std::string_view tactic) const;

 private:
  std::vector<std::string> variants(const Implementation& implementation, const Layer& layer) const;
  bool is_excluded(const Layer& layer, std::string_view tactic) const;
  // An implementation and one of its variants.
  struct Tactic {
    const Implementation* implementation = nullptr;
    std::string variant;
    std::string name;
  };
  std::unique_ptr<Kernel> make(const Tactic& tactic, const Layer& layer, PackedWeights& packed) const;
  Choice make_choice(const Tactic& tactic, const Layer& layer) const;
  std::vector<Tactic> tactics_of(const Layer& layer, TrialWeights& weights) const;
  // But for some tactics, by their names.
  std::optional<Tactic> find_fastest(const Layer& layer, const std::set<std::string>& without) const;
  // A tactic that is measured.
  struct Runner {
    Tactic tactic;
    std::unique_ptr<Kernel> kernel;  // null: it is too slow, or its time is known
    double seconds = 0;
    bool is_measured = false;  // now, not taken from the cache
  };
  struct Race {
    std::string key;  // of the layer
    TrialWeights weights;
    std::vector<Runner> runners;
  };
  std::optional<double> known_seconds(const Race& race, const Tactic& tactic) const;
  void start(const Layer& layer, Race& race) const;
  void drop(const Race& race, Runner& runner) const;
  void measure(const Layer& layer, const Race& race, Runner& runner, double share) const;
  Tactic finish(const Layer& layer, Race& race) const;

  const Device& device_;
  const TacticOptions& options_;
  std::shared_ptr<TimingCache> cache_;  // equal layers are measured once
  std::string machine_;
  bool has_cold_constants_ = false;
};

}  // namespace assay::engine
