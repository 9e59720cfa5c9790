#pragma once

#include "results/fields/fields.h"
#include "results/memory_needs.h"

namespace assay::results {

template <>
struct Fields<LiveValue> {
  static void of(auto& v, auto& value) {
    v("name", value.name);
    v.amount("bytes", value.bytes);
  }
};

template <>
struct Fields<MemoryPeak> {
  static void of(auto& v, auto& peak) {
    v.amount("bytes", peak.bytes);
    v("node", peak.node);
    v("largest", peak.largest);
  }
};

template <>
struct Fields<CacheNeeds> {
  static void of(auto& v, auto& caches) {
    v("count", caches.count);
    v.amount("bytes", caches.bytes);
    v.amount("bytes_per_token", caches.bytes_per_token);
  }
};

template <>
struct Fields<EngineMemory> {
  static void of(auto& v, auto& memory) {
    v("arena_bytes", memory.arena_bytes);
    v("packed_bytes", memory.packed_bytes);
  }
};

template <>
struct Fields<MemoryNeeds> {
  static void of(auto& v, auto& needs) {
    v("weight_bytes", needs.weight_bytes);
    v.amount("input_bytes", needs.input_bytes);
    v.amount("output_bytes", needs.output_bytes);
    v("peaks", needs.peaks);
    v("unknown_values", needs.unknown_values);
    v.some("caches", needs.caches);
    v.some("sizes", needs.sizes);
    v.some("at", needs.at);
    v.some("total_bytes", needs.total_bytes);
    v.some("engine", needs.engine);
  }
};

}  // namespace assay::results
