#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "surgery/shard/shard.h"

namespace assay::surgery {
namespace {

// A shuffle names every dim once.
void check_shuffles(const formats::AttentionLayerHint& layer) {
  if (!layer.replace) return;
  for (const auto& shuffle : {layer.replace->q_shuffle, layer.replace->k_shuffle, layer.replace->v_shuffle}) {
    if (!shuffle) continue;
    std::vector<int64_t> sorted = *shuffle;
    std::ranges::sort(sorted);
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] == static_cast<int64_t>(i)) continue;
      fail(ErrorCode::usage, "a shuffle of the layer `{}` is no order of its {} dims", printable(layer.q),
           sorted.size());
    }
  }
}

}  // namespace

void check_shard_hints(const formats::ShardHints& hints) {
  for (const formats::AttentionLayerHint& layer : hints.attention_layers) check_shuffles(layer);
  static constexpr std::array<std::string_view, 5> kOps = {"sum", "prod", "min", "max", "avg"};
  if (hints.parallelism != "CP" && hints.parallelism != "TP") {
    fail(ErrorCode::usage, "the parallelism `{}` is not known; expected CP or TP", printable(hints.parallelism));
  }
  constexpr int64_t kMostRanks = 256;
  if (hints.parallelism == "TP" && (hints.nb_rank < 2 || hints.nb_rank > kMostRanks)) {
    throw Error(ErrorCode::usage, fmt::format("TP splits weights over ranks: expected nb_rank from 2 to {}, found {}",
                                              kMostRanks, hints.nb_rank))
        .remedied_by("nb_rank");
  }
  if (std::ranges::find(kOps, hints.reduce_op) == kOps.end()) {
    fail(ErrorCode::usage, "the operator `{}` cannot reduce; expected sum, prod, min, max or avg",
         printable(hints.reduce_op));
  }
  if (hints.group_size < 0 || hints.nb_rank < 1 || hints.root < -1) {
    fail(ErrorCode::usage, "group size {}, number of ranks {} and root {} are not valid; expected at least 0, 1 and -1",
         hints.group_size, hints.nb_rank, hints.root);
  }
  std::set<int64_t> devices;
  for (const int64_t device : hints.groups) {
    if (device < 0) fail(ErrorCode::usage, "the groups name the device {}; expected at least 0", device);
    if (!devices.insert(device).second) fail(ErrorCode::usage, "the groups name the device {} twice", device);
  }
  const int64_t count = static_cast<int64_t>(hints.groups.size());
  if (hints.group_size > 0 && count % hints.group_size != 0) {
    fail(ErrorCode::usage, "{} devices cannot be put into groups of {}", count, hints.group_size);
  }
}

}  // namespace assay::surgery
