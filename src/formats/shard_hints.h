#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace assay::formats {

// One node that replaces an attention layer. A shuffle is the order of dims in which an operand is read.
struct FusedAttention {
  bool is_causal = false;
  std::optional<std::vector<int64_t>> q_shuffle;
  std::optional<std::vector<int64_t>> k_shuffle;
  std::optional<std::vector<int64_t>> v_shuffle;
  int64_t nb_rank = 1;
};

struct AttentionLayerHint {
  std::string q;  // the value by which the layer is found
  bool gather_kv = true;
  bool gather_q = false;
  std::optional<FusedAttention> replace;
};

struct ShardTensor {
  std::string name;
  int64_t seq_len_idx = 0;
  std::optional<int64_t> rank;
};

// Hints for splitting a model over devices.
struct ShardHints {
  std::string parallelism = "CP";
  std::vector<AttentionLayerHint> attention_layers;
  int64_t group_size = 0;  // 0: all devices
  int64_t root = -1;
  int64_t nb_rank = 1;
  std::string reduce_op = "max";
  std::vector<int64_t> groups;
  std::vector<ShardTensor> inputs;
  std::vector<ShardTensor> outputs;
  int64_t k_seq_len_idx = 0;
  int64_t v_seq_len_idx = 0;
  std::optional<int64_t> kv_rank;
};

// The peer's file, in its form of 0.49 or of 0.53. Error (parse) for any other file.
ShardHints parse_shard_hints(std::string_view text);
// In the form of 0.53.
void write_shard_hints(const ShardHints& hints, OutputFile& file);

}  // namespace assay::formats
