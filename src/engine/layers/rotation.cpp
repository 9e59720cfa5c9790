#include "engine/layers/rotation.h"

#include <array>

#include "engine/layers/form.h"

namespace assay::engine {
namespace {

using Kind = Rotation::Kind;

std::optional<Rotation> read_spelled(const Layer& layer, const SpelledRotary& found) {
  Rotation rotation{.out = layer.outputs[0], .scale = found.scale};
  for (const SpelledRotary::Piece& given : found.pieces) {
    Rotation::Piece piece{given.turn, given.width, {}};
    for (const SpelledRotary::Part& part : given.parts) {
      const int input = layer.input_of(part.value);
      if (input < 0) return {};
      const TensorDesc& desc = layer.inputs[static_cast<size_t>(input)];
      if (desc.dtype != rotation.out.dtype) return {};
      piece.operands.push_back({input, desc, part.first});
    }
    rotation.pieces.push_back(std::move(piece));
  }
  return rotation;
}

// The operator of ai.onnx, or that of com.microsoft, whose inputs are in another order.
class Reader {
 public:
  explicit Reader(const Layer& layer)
      : layer_(layer),
        facts_(layer.facts(layer.nodes[0])),
        is_microsoft_(layer.model->text((*layer.model)[layer.nodes[0]].domain) == "com.microsoft") {}

  std::optional<Rotation> read() {
    const bool is_known =
        layer_.op(layer_.nodes[0]) == "RotaryEmbedding" && (is_microsoft_ || layer_.starts_with("RotaryEmbedding"));
    if (!is_known || layer_.outputs.size() != 1 || layer_.inputs.size() < 3) return std::nullopt;
    cosines_ = is_microsoft_ ? 2 : 1;
    positions_ = is_microsoft_ ? 1 : 3;
    const TensorDesc& x = layer_.inputs[0];
    for (const size_t i : {size_t{0}, cosines_, cosines_ + 1}) {
      if (i >= layer_.inputs.size() || layer_.inputs[i].dtype != x.dtype) return std::nullopt;
    }
    half_ = layer_.inputs[cosines_].dims.back();
    is_packed_ = x.dims.size() == 3;
    if (x.count() == 0 || half_ == 0 || !find_head_size()) return std::nullopt;
    rotation_.out = heads_of(layer_.outputs[0]);
    if (!read_positions()) return std::nullopt;
    add_pieces();
    return std::move(rotation_);
  }

 private:
  bool find_head_size() {
    const tensor::Shape& dims = layer_.inputs[0].dims;
    const int64_t heads = facts_.integer("num_heads", 0);
    const bool tells_size = is_microsoft_ && facts_.integer("rotary_embedding_dim", 0) == 0;
    if (!is_packed_)
      size_ = dims[3];
    else if (tells_size)
      size_ = 2 * half_;
    else
      size_ = heads > 0 ? dims[2] / heads : 0;
    return size_ >= 2 * half_ && (!is_packed_ || dims[2] % size_ == 0);
  }

  // [batch, heads, length, size], or [batch, length, heads, size] where heads are packed.
  TensorDesc heads_of(const TensorDesc& desc) const {
    if (!is_packed_) return desc;
    TensorDesc heads = desc;
    heads.dims = {desc.dims[0], desc.dims[1], desc.dims[2] / size_, size_};
    heads.strides = {desc.strides[0], desc.strides[1], desc.strides[2] * size_, desc.strides[2]};
    return heads;
  }
  // With a dim of 1 for the heads of [batch, length, ...].
  TensorDesc for_heads(TensorDesc desc) const {
    const ptrdiff_t at = is_packed_ ? 2 : 1;
    desc.dims.insert(desc.dims.begin() + at, 1);
    desc.strides.insert(desc.strides.begin() + at, 0);
    return desc;
  }

  bool read_positions() {
    const TensorDesc& cosines = layer_.inputs[cosines_];
    const TensorDesc& sines = layer_.inputs[cosines_ + 1];
    if (positions_ >= layer_.inputs.size() || !layer_.inputs[positions_].exists()) {
      if (cosines.dims.size() != 3 || sines.dims.size() != 3) return false;
      angles_ = {for_heads(cosines), for_heads(sines)};
      return true;
    }
    const TensorDesc& given = layer_.inputs[positions_];
    const bool fits = given.dtype == tensor::DType::int64 && has_layout(given, Layout::plain) &&
                      cosines.dims.size() == 2 && cosines == sines;
    if (!fits) return false;
    Rotation::Positions positions{
        .input = static_cast<int>(positions_), .row = cosines.strides[0], .rows = cosines.dims[0]};
    const int64_t length = layer_.inputs[0].dims[is_packed_ ? 1 : 2];
    TensorDesc rows{cosines.dtype, {1, 1, cosines.dims[1]}, {0, 0, cosines.strides[1]}};
    if (given.dims.size() == 2) {
      positions.desc = for_heads(given);
    } else {  // the first one, which the others follow
      positions.desc = {given.dtype, {1, 1, 1}, {0, 0, 0}};
      positions.following = length - 1;
      rows.dims[1] = length;
      rows.strides[1] = cosines.strides[0];
    }
    rotation_.positions = std::move(positions);
    angles_ = {for_heads(rows), for_heads(rows)};
    return true;
  }

  void add_pieces() {
    const TensorDesc heads = heads_of(layer_.inputs[0]);
    const auto x = [&](int64_t first) { return Rotation::Operand{0, heads, first}; };
    const auto angle = [&](size_t which) {
      return Rotation::Operand{static_cast<int>(cosines_ + which), angles_[which], 0, rotation_.positions.has_value()};
    };
    if (facts_.flag("interleaved")) {
      rotation_.pieces.push_back({Kind::pairs, 2 * half_, {x(0), angle(0), angle(1)}});
    } else {
      rotation_.pieces.push_back({Kind::difference, half_, {x(0), angle(0), x(half_), angle(1)}});
      rotation_.pieces.push_back({Kind::sum, half_, {x(half_), angle(0), x(0), angle(1)}});
    }
    if (size_ > 2 * half_) rotation_.pieces.push_back({Kind::copy, size_ - 2 * half_, {x(2 * half_)}});
  }

  const Layer& layer_;
  ops::Node facts_;
  bool is_microsoft_;
  bool is_packed_ = false;
  size_t cosines_ = 0, positions_ = 0;  // inputs
  int64_t half_ = 0, size_ = 0;
  std::array<TensorDesc, 2> angles_;
  Rotation rotation_;
};

}  // namespace

std::optional<Rotation> find_rotation(const Layer& layer) {
  if (layer.is_single()) return Reader(layer).read();
  const auto* const spelled = form_as<SpelledRotary>(layer);
  return spelled == nullptr ? std::nullopt : read_spelled(layer, *spelled);
}

}  // namespace assay::engine
