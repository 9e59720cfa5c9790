// The warps of a tile, of kThreads in all, and the places of elements in shared memory (for tiles.cu, which names what is given).
#define kWarps (kWarpRows * kWarpColumns)  // of a tile; kWarpDepth such groups share each step of the depth
#define kPack (16 / (int)sizeof(T))
#define kChunks (kDepth / kPack)

// The number of the thread's group.
DEVICE int depth_part() { return kWarpDepth == 1 ? 0 : (int)thread_index() / (32 * kWarps); }
DEVICE int swizzled(int row, int chunk) {
  return kChunks >= 8 ? chunk ^ (row & 7) : kChunks == 4 ? chunk ^ ((row >> 1) & 3) : chunk ^ ((row >> 2) & 1);
}

// The place of a chunk of a row in a tile.
DEVICE int place_in(int row, int chunk) { return (row * kChunks + swizzled(row, chunk)) * kPack; }
