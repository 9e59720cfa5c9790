#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/generated_inputs.h"
#include "exec/session.h"

namespace assay::engine {

// The shapes that an input may have: each dim from `least` to `most`; kernels are chosen for `best`. Of an input whose
// elements decide shapes, these are its elements.
struct ShapeRange {
  std::string input;
  bool is_values = false;
  tensor::Shape least;
  tensor::Shape best;
  tensor::Shape most;
};

// The ranges of inputs whose shapes are open; one that is not named may have any. Empty: so may all.
using Profile = std::vector<ShapeRange>;

// Shapes as they were asked for; names may be wildcards, a dim of -1 is that of the model.
struct ProfileShapes {
  std::vector<exec::InputShape> least;
  std::vector<exec::InputShape> best;
  std::vector<exec::InputShape> most;
  bool is_empty() const { return least.empty() && best.empty() && most.empty(); }
};

// A bound that is left out is the one before it; the first is 1 where the model leaves a dim open. Error (usage) for
// shapes that contradict the model or each other.
Profile make_profile(const exec::Signature& signature, const ProfileShapes& shapes);
// One for each, one at least.
std::vector<Profile> make_profiles(const exec::Signature& signature, std::span<const ProfileShapes> shapes);
// Error (usage) if no profile takes the feeds, or the chosen one does not.
void check_feeds(std::span<const Profile> profiles, std::optional<size_t> chosen, std::span<const exec::Feed> feeds);

}  // namespace assay::engine
