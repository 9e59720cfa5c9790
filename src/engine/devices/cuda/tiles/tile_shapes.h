#pragma once

#include "engine/devices/cuda/driver/card.h"
#include "engine/devices/cuda/tiles/tile_product.h"

namespace assay::engine::cuda {

inline constexpr int64_t kPackBytes = 16;      // that are moved at once
int64_t bytes_of(const TileProduct& product);  // of an element
bool is_float(const TileProduct& product);     // of float32
bool is_float8(const TileProduct& product);
// Without tensor cores.
bool is_plain(const TileProduct& product, int tf32_products);
// True if 16 bytes along the depth lie together, for every row or column, and none is half beyond the end.
bool packs(const TileProduct& product, const TileOperand& operand);
bool left_packs(const TileProduct& product);

// Bytes of the depth that a step brings into shared memory, and the turns that steps take there.
int64_t step_bytes(const TileProduct& product, const TileShape& shape);
int stages_of(const TileProduct& product, const TileShape& shape);

// Ways to multiply float32 that a layer permits.
enum class FloatProducts : uint8_t { exact, nearly_exact, tf32 };

// Shapes of tiles for a product on a card, the best one first; the first kMostShapes are worth to be measured.
inline constexpr size_t kMostShapes = 6;
std::vector<TileShape> tile_shapes(const TileProduct& product, FloatProducts permitted, const Card& card);

}  // namespace assay::engine::cuda
