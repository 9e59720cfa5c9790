#include "formats/shard_hints.h"

#include "base/error.h"
#include "base/text.h"
#include "formats/json/json_reader.h"
#include "formats/json/python_json.h"

namespace assay::formats {
namespace {

constexpr std::string_view kClass = "polygraphy_class";

std::vector<int64_t> read_integers(JsonReader& json) {
  std::vector<int64_t> values;
  for (json.begin_array(); json.next_item();) values.push_back(json.integer());
  return values;
}

bool take_null(JsonReader& json) {
  if (json.peek() != JsonReader::Kind::null) return false;
  json.null();
  return true;
}

std::optional<std::vector<int64_t>> read_shuffle(JsonReader& json) {
  if (take_null(json)) return std::nullopt;
  return read_integers(json);
}

std::optional<int64_t> read_rank(JsonReader& json) {
  if (take_null(json)) return std::nullopt;
  return json.integer();
}

FusedAttention read_fused(JsonReader& json) {
  FusedAttention fused;
  json.begin_object();
  for (std::string key; json.next_key(key);) {
    if (key == "is_causal") {
      fused.is_causal = json.boolean();
    } else if (key == "q_shuffle") {
      fused.q_shuffle = read_shuffle(json);
    } else if (key == "k_shuffle") {
      fused.k_shuffle = read_shuffle(json);
    } else if (key == "v_shuffle") {
      fused.v_shuffle = read_shuffle(json);
    } else if (key == "nb_rank") {
      fused.nb_rank = json.integer();
    } else {
      json.skip();
    }
  }
  return fused;
}

AttentionLayerHint read_layer(JsonReader& json) {
  AttentionLayerHint layer;
  json.begin_object();
  for (std::string key; json.next_key(key);) {
    if (key == "q") {
      layer.q = json.string().text();
    } else if (key == "gather_kv") {
      layer.gather_kv = json.boolean();
    } else if (key == "gather_q") {
      layer.gather_q = json.boolean();
    } else if (key == "replace") {
      if (!take_null(json)) layer.replace = read_fused(json);
    } else {
      json.skip();
    }
  }
  if (layer.q.empty()) json.fail_here("an attention layer without `q`");
  return layer;
}

ShardTensor read_tensor(JsonReader& json) {
  ShardTensor tensor;
  json.begin_object();
  for (std::string key; json.next_key(key);) {
    if (key == "name") {
      tensor.name = json.string().text();
    } else if (key == "seq_len_idx") {
      tensor.seq_len_idx = json.integer();
    } else if (key == "rank") {
      tensor.rank = read_rank(json);
    } else {
      json.skip();
    }
  }
  if (tensor.name.empty()) json.fail_here("a tensor without `name`");
  return tensor;
}

// In 0.49 these stand among the other fields, under the names of that version.
bool read_collective(JsonReader& json, std::string_view key, ShardHints& hints) {
  if (key == "group_size") {
    hints.group_size = json.integer();
  } else if (key == "root") {
    hints.root = json.integer();
  } else if (key == "nb_rank") {
    hints.nb_rank = json.integer();
  } else if (key == "reduce_op" || key == "reduce_scatter_reduce_op") {
    hints.reduce_op = json.string().text();
  } else if (key == "groups") {
    if (!take_null(json)) hints.groups = read_integers(json);
  } else {
    return false;
  }
  return true;
}

void read_collectives(JsonReader& json, ShardHints& hints) {
  json.begin_object();
  for (std::string key; json.next_key(key);) {
    if (!read_collective(json, key, hints)) json.skip();
  }
}

bool read_list(JsonReader& json, std::string_view key, ShardHints& hints) {
  if (key == "attention_layers") {
    for (json.begin_array(); json.next_item();) hints.attention_layers.push_back(read_layer(json));
  } else if (key == "inputs") {
    for (json.begin_array(); json.next_item();) hints.inputs.push_back(read_tensor(json));
  } else if (key == "outputs") {
    for (json.begin_array(); json.next_item();) hints.outputs.push_back(read_tensor(json));
  } else if (key == "dist_collectives") {
    read_collectives(json, hints);
  } else {
    return false;
  }
  return true;
}

bool read_number(JsonReader& json, std::string_view key, ShardHints& hints) {
  if (key == "k_seq_len_idx") {
    hints.k_seq_len_idx = json.integer();
  } else if (key == "v_seq_len_idx") {
    hints.v_seq_len_idx = json.integer();
  } else if (key == "kv_rank") {
    hints.kv_rank = read_rank(json);
  } else if (key == "parallelism") {
    hints.parallelism = json.string().text();
  } else {
    return read_collective(json, key, hints);
  }
  return true;
}

void check_class(JsonReader& json) {
  const std::string name = json.string().text();
  if (name != "ShardHints") json.fail_here("the class `" + printable(name) + "`, expected `ShardHints`");
}

// An object with the mark of its class behind it.
class MarkedObject {
 public:
  MarkedObject(PythonJson& json, std::string_view name) : json_(json), name_(name) { json_.begin_object(); }

  void integer(std::string_view key, std::optional<int64_t> value) {
    json_.key(key);
    value ? json_.integer(*value) : json_.null();
  }
  void boolean(std::string_view key, bool value) {
    json_.key(key);
    json_.boolean(value);
  }
  void text(std::string_view key, std::string_view value) {
    json_.key(key);
    json_.string(value);
  }
  void integers(std::string_view key, const std::optional<std::vector<int64_t>>& values) {
    json_.key(key);
    if (!values) return json_.null();
    json_.begin_array();
    for (const int64_t value : *values) json_.integer(value);
    json_.end_array();
  }
  void end() {
    text(kClass, name_);
    json_.end_object();
  }

 private:
  PythonJson& json_;
  std::string_view name_;
};

void write_fused(PythonJson& json, const FusedAttention& fused) {
  MarkedObject object(json, "FusedAttention");
  object.boolean("is_causal", fused.is_causal);
  object.integers("q_shuffle", fused.q_shuffle);
  object.integers("k_shuffle", fused.k_shuffle);
  object.integers("v_shuffle", fused.v_shuffle);
  object.integer("nb_rank", fused.nb_rank);
  object.end();
}

void write_layer(PythonJson& json, const AttentionLayerHint& layer) {
  MarkedObject object(json, "AttentionLayerHint");
  object.text("q", layer.q);
  object.boolean("gather_kv", layer.gather_kv);
  object.boolean("gather_q", layer.gather_q);
  json.key("replace");
  layer.replace ? write_fused(json, *layer.replace) : json.null();
  object.end();
}

void write_collectives(PythonJson& json, const ShardHints& hints) {
  json.key("dist_collectives");
  MarkedObject object(json, "DistCollective");
  object.integer("group_size", hints.group_size);
  object.integer("root", hints.root);
  object.integer("nb_rank", hints.nb_rank);
  object.text("reduce_op", hints.reduce_op);
  object.integers("groups", hints.groups);
  object.end();
}

void write_tensors(PythonJson& json, std::string_view key, const std::vector<ShardTensor>& tensors) {
  json.key(key);
  json.begin_array();
  for (const ShardTensor& tensor : tensors) {
    MarkedObject object(json, "ShardTensor");
    object.text("name", tensor.name);
    object.integer("seq_len_idx", tensor.seq_len_idx);
    object.integer("rank", tensor.rank);
    object.end();
  }
  json.end_array();
}

}  // namespace

ShardHints parse_shard_hints(std::string_view text) {
  ShardHints hints;
  JsonReader json(text);
  bool is_marked = false;
  json.begin_object();
  for (std::string key; json.next_key(key);) {
    is_marked = is_marked || key == kClass || key == "__polygraphy_encoded_ShardHints";
    if (key == kClass) {
      check_class(json);
    } else if (!read_list(json, key, hints) && !read_number(json, key, hints)) {
      json.skip();
    }
  }
  json.finish();
  if (!is_marked) fail(ErrorCode::parse, "the file has no `{}`: it holds no shard hints", kClass);
  return hints;
}

void write_shard_hints(const ShardHints& hints, OutputFile& file) {
  PythonJson json(file);
  MarkedObject object(json, "ShardHints");
  object.text("parallelism", hints.parallelism);
  json.key("attention_layers");
  json.begin_array();
  for (const AttentionLayerHint& layer : hints.attention_layers) write_layer(json, layer);
  json.end_array();
  write_collectives(json, hints);
  write_tensors(json, "inputs", hints.inputs);
  write_tensors(json, "outputs", hints.outputs);
  object.integer("k_seq_len_idx", hints.k_seq_len_idx);
  object.integer("v_seq_len_idx", hints.v_seq_len_idx);
  object.integer("kv_rank", hints.kv_rank);
  object.end();
}

}  // namespace assay::formats
