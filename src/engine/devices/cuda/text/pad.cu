// Pad: each element, or kPack neighbours, comes from where `source_of` says, or is the filler. A thread a piece.
KERNEL(kThreads) {
  const uint32 piece = block_x() * kThreads + thread_index();
  if (piece >= (uint32)kPieces) return;
  const int64 source = source_of(p, piece);
  Pack<T, kPack> made;
  if (source >= 0) {
    made = load_pack<T, kPack>(kIn + source);
  } else {
    const T filler = kFiller;
    for (int i = 0; i < kPack; ++i) made.e[i] = filler;
  }
  store_pack<T, kPack>(kOut + (int64)piece * kPack, made);
}
