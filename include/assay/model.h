#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/edit.h"
#include "assay/error.h"
#include "assay/observer.h"
#include "assay/plugin.h"
#include "assay/run.h"
#include "assay/tensor.h"

namespace assay {

struct LoadOptions {
  std::string external_folder = {};   // folder of the files with the model's weights; empty: beside the model
  bool ignore_external_data = false;  // leave those weights unread
};

struct SaveOptions {
  std::string external_file = {};      // put large weights into this file beside the model; empty: into the model
  uint64_t external_threshold = 1024;  // in bytes: weights that are not larger stay in the model
};

// A value of the main graph.
struct ValueInfo {
  std::string name;
  std::string type;                               // `float32`; empty: not known
  std::optional<std::vector<std::string>> shape;  // numbers, names, `?`; nothing: not known
};

struct NodeInfo {
  std::string name;
  std::string op;
  std::string domain;
  std::vector<std::string> inputs;  // empty names: left out
  std::vector<std::string> outputs;
};

// One thing that lint says. `exception`: a backend would refuse the model or fail.
struct LintFinding {
  enum class Level { exception, warning, info };
  Level level = Level::warning;
  std::string code;
  std::string node;
  std::string message;
  std::string remedy;  // the setting that lifts it, as `max_steps`; empty: none does
};

// The verdict of one backend on a model.
struct Compatibility {
  std::string backend;
  bool usable = false;                                       // the backend, here
  bool accepts = false;                                      // the whole model
  std::string reason;                                        // for a refusal where no node is to blame
  std::vector<std::pair<std::string, std::string>> refused;  // nodes, and why
};

// An ONNX model. Cheap to copy; it never changes: what edits it gives another model. A model may be used from several
// threads at once. Calls throw assay::Error and print nothing.
class Model {
 public:
  // A file: protobuf, or ONNX's text syntax where it ends in .onnxtxt. Its weights stay in the file until they are
  // read.
  static Model load(const std::string& path, const LoadOptions& options = {}, Observer* observer = nullptr);
  static Model from_text(std::string_view text);
  static Model from_bytes(std::span<const std::byte> bytes);

  // The file appears when it is complete.
  void save(const std::string& path, const SaveOptions& options = {}, Observer* observer = nullptr) const;
  std::vector<std::byte> bytes() const;
  std::string text() const;

  // Findings of loading or making the model. A model that is wrong as a graph has errors here and cannot be run.
  const std::vector<Finding>& findings() const;
  std::vector<ValueInfo> inputs() const;
  std::vector<ValueInfo> outputs() const;
  std::vector<NodeInfo> nodes() const;  // of the main graph, in order

  // Everything that is wrong with it; `is_static`: without a run.
  std::vector<LintFinding> lint(bool is_static = false, Observer* observer = nullptr) const;
  // No names: all backends. Their libraries run in processes of their own.
  std::vector<Compatibility> check_compatibility(const std::vector<std::string>& backends = {},
                                                 Observer* observer = nullptr) const;
  RunReport run(const RunOptions& options = {}, Observer* observer = nullptr) const;

  Model infer_shapes(Observer* observer = nullptr) const;
  Model sanitize(const SanitizeOptions& options, Observer* observer = nullptr) const;
  Model extract(const ExtractOptions& options, Observer* observer = nullptr) const;
  Model insert(const InsertOptions& options, Observer* observer = nullptr) const;
  Model to_half(const HalfOptions& options = {}, Observer* observer = nullptr) const;
  Model quantize(const Int8Options& options = {}, Observer* observer = nullptr) const;
  Model compress_weights(const WeightOptions& options = {}, Observer* observer = nullptr) const;

  Model shard(const ShardOptions& options = {}, Observer* observer = nullptr) const;
  // Splits the weights over ranks: a model for each of them.
  std::vector<Model> split_weights(int64_t ranks, Observer* observer = nullptr) const;

  // Plugins without a match are listed too.
  std::vector<PluginMatches> match_plugins(const PluginOptions& options, Observer* observer = nullptr) const;
  // A node of the plugin replaces each instance; one that no longer fits is left, with a message.
  Model replace_plugins(const std::vector<PluginMatches>& plugins, Observer* observer = nullptr) const;

  struct Content;
  explicit Model(std::shared_ptr<const Content> content);
  const Content& content() const { return *content_; }

 private:
  std::shared_ptr<const Content> content_;
};

}  // namespace assay
