#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exec/generated_inputs.h"
#include "exec/signature.h"

namespace assay::engine {

// The shapes that an input may have: each dim from `least` to `most`; kernels are chosen for `best`.
struct ShapeRange {
  std::string input;
  tensor::Shape least;
  tensor::Shape best;
  tensor::Shape most;
};

// The ranges of inputs whose shapes are open; one that is not named may have any. Empty: so may all.
using Profile = std::vector<ShapeRange>;

// As they were asked for; names may be wildcards, a dim of -1 is that of the model.
struct ProfileShapes {
  std::vector<exec::InputShape> least;
  std::vector<exec::InputShape> best;
  std::vector<exec::InputShape> most;
  bool is_empty() const { return least.empty() && best.empty() && most.empty(); }
};

// A bound that is left out is the one before it; the first is 1 where the model leaves a dim open. Error (usage) for
// shapes that contradict the model or each other.
Profile make_profile(const exec::Signature& signature, const ProfileShapes& shapes);
// Error (usage) for a shape that the profile does not have.
void check_shape(const Profile& profile, std::string_view input, const tensor::Shape& shape);

}  // namespace assay::engine
