#include "backends/onnxrt/ort_session.h"

#include <charconv>

#include "backends/onnxrt/ort_assignment.h"
#include "backends/onnxrt/ort_empty.h"
#include "backends/onnxrt/ort_options.h"
#include "backends/onnxrt/ort_profile.h"
#include "backends/onnxrt/ort_values.h"
#include "base/error.h"
#include "base/foreign_code.h"
#include "base/paths.h"
#include "base/stop.h"
#include "base/stopwatch.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "exec/bound_outputs.h"
#include "exec/tapped_values.h"
#include "ir/ir_version.h"
#include "onnx/export.h"
#include "onnx/older_versions.h"

namespace assay::backends::ort {
namespace {

constexpr std::string_view kName = "onnxrt";
constexpr int kFirstWithFolderOption = 18;
constexpr uint64_t kDetachAboveBytes =
    uint64_t{64} * 1024;  // below, a copy costs less than what goes with a borrowed tensor

// The session of the library, with what it needs as long as it lives.
struct Holder {
  std::vector<FeedValue> weights;
  std::optional<TemporaryFolder> profile;  // the library writes the times of layers there
  Owned<Session> session;
};

// Memory that outputs of a run may refer to: the library gives items of sequences and contents of optionals as it got
// them.
struct RunHolder {
  std::shared_ptr<Holder> session;
  std::vector<FeedValue> feeds;
};

// The number behind a text in a message; empty if the text is not there.
std::optional<int64_t> number_behind(const std::string& message, std::string_view text) {
  const size_t begin = message.find(text);
  if (begin == std::string::npos) return std::nullopt;
  const char* const first = message.data() + begin + text.size();
  int64_t number = 0;
  const std::from_chars_result end = std::from_chars(first, message.data() + message.size(), number);
  return end.ec == std::errc() ? std::optional(number) : std::nullopt;
}

class Maker {
 public:
  Maker(const Library& library, const ir::Model& model, const exec::SessionOptions& options, Diagnostics& findings)
      : library_(library), model_(model), options_(options), findings_(findings) {}

  std::shared_ptr<Holder> make(const std::vector<ir::ValueId>& extra_outputs) {
    encode_.detach_above_bytes = kDetachAboveBytes;
    encode_.keeps_external = has_file() && library_.minor_version() >= kFirstWithFolderOption;
    encode_.additions.outputs = extra_outputs;
    for (;;) {
      try {
        return is_as_in_file() ? from_file() : from_memory();
      } catch (const Error& error) {
        if (!adapt(error.message())) throw;
      }
    }
  }

 private:
  bool has_file() const { return !options_.path.empty() && options_.path != "-" && model_.source(); }
  bool is_as_in_file() const {
    return has_file() && !model_.is_edited() && encode_.additions.outputs.empty() &&
           encode_.additions.versions == onnx::Versions();
  }

  std::shared_ptr<Holder> from_file() const {
    const Owned<SessionOptions> session_options = make_options(library_, options_);
    auto holder = std::make_shared<Holder>();
    enable_profile(*holder, session_options.get());
    Session* session = nullptr;
    const ForeignCode code(kName);
    library_.call(kCreateSession, library_.env(), options_.path.c_str(), session_options.get(), &session);
    holder->session = library_.own(session);
    return holder;
  }

  std::shared_ptr<Holder> from_memory() const {
    const Owned<SessionOptions> session_options = make_options(library_, options_);
    if (encode_.keeps_external) {
      const std::string folder = absolute_path(options_.path).parent_path().string();
      library_.call(kAddConfigEntry, session_options.get(), "session.model_external_initializers_file_folder_path",
                    folder.c_str());
    }
    const onnx::EncodedModel encoded = onnx::encode(model_, encode_);
    std::vector<FeedValue> weights;
    std::vector<const char*> names;
    std::vector<const Value*> values;
    for (const tensor::NamedDatum& tensor : encoded.detached) {
      names.push_back(tensor.name.c_str());
      values.push_back(weights.emplace_back(to_value(library_, tensor.value)).value.get());
    }
    if (!names.empty()) {
      library_.call(kAddExternalInitializers, session_options.get(), names.data(), values.data(), names.size());
    }
    auto holder = std::make_shared<Holder>();
    enable_profile(*holder, session_options.get());
    holder->weights = std::move(weights);
    Session* session = nullptr;
    const ForeignCode code(kName);
    library_.call(kCreateSessionFromArray, library_.env(), encoded.bytes.data(), encoded.bytes.size(),
                  session_options.get(), &session);
    holder->session = library_.own(session);
    // Weights that the library has copied or packed are not read again.
    for (const tensor::NamedDatum& weight : encoded.detached) weight.value.tensor().storage()->release();
    return holder;
  }

  void enable_profile(Holder& holder, SessionOptions* session_options) const {
    if (!options_.profiles) return;
    holder.profile.emplace();
    library_.call(kEnableProfiling, session_options, (holder.profile->path() / "onnxrt").c_str());
  }

  // True if the next attempt may succeed: the model was too new, and what is new is not needed.
  bool adapt(const std::string& message) {
    onnx::Versions& versions = encode_.additions.versions;
    const std::optional<int64_t> ir_version = number_behind(message, "max supported IR version: ");
    if (ir_version && versions.ir == 0 && ir::needed_ir_version(model_) <= *ir_version) {
      versions.ir = *ir_version;
      tell_lowered("onnxrt-ir-version", "IR version", model_.header().ir_version, *ir_version);
      return true;
    }
    const std::optional<int64_t> opset = number_behind(message, "for domain ai.onnx is till opset ");
    if (opset && versions.opset == 0 && onnx::is_same_in_opset(model_, *opset)) {
      versions.opset = *opset;
      tell_lowered("onnxrt-opset", "operator set", std::nullopt, *opset);
      return true;
    }
    return false;
  }

  void tell_lowered(std::string_view code, std::string_view what, std::optional<int64_t> from, int64_t to) {
    findings_.warn(code, "",
                   fmt::format("onnxrt: {} lowered {}to {}, the newest that ONNX Runtime {} reads; the model needs "
                               "nothing of the newer",
                               what, from ? fmt::format("from {} ", *from) : "", to, library_.version()));
  }

  const Library& library_;
  const ir::Model& model_;
  const exec::SessionOptions& options_;
  Diagnostics& findings_;
  onnx::EncodeOptions encode_;
};

// A tensor in memory of its own, so that who keeps it does not keep the session with it.
tensor::Datum detached(const tensor::Datum& datum) {
  if (!datum.is_tensor() || datum.declared() == tensor::DType::string) return datum;
  const tensor::Tensor& tensor = datum.tensor();
  const tensor::Bytes bytes = tensor.bytes();
  return tensor::Tensor(tensor.dtype(), tensor.shape(), tensor::make_owned({bytes.begin(), bytes.end()}));
}

// State that the executions of a session share. The library runs a session from several threads at once.
struct Prepared {
  const Library& library;
  const ir::Model& model;
  exec::TappedValues values;
  std::shared_ptr<Holder> holder;
  exec::Signature signature;
  bool is_tapped;
};

class OrtExecution final : public exec::Execution {
 public:
  explicit OrtExecution(const Prepared& prepared)
      : library_(prepared.library), model_(prepared.model), prepared_(prepared) {}

  void run(std::span<const exec::Feed> feeds, std::span<const std::string> values, exec::TensorSink& sink) override {
    seconds_ = 0;
    std::vector<const char*> wanted;
    for (const std::string& name : values) {
      const std::optional<tensor::Datum> given = prepared_.values.given(name, feeds);
      given ? sink.accept(name, bound_.placed(name, *given)) : wanted.push_back(name.c_str());
    }
    if (wanted.empty()) return;
    const std::shared_ptr<RunHolder> run = std::make_shared<RunHolder>(RunHolder{prepared_.holder, {}});
    for (const exec::Feed& feed : feeds) run->feeds.push_back(to_feed(feed));
    std::vector<Owned<Value>> results = compute(feeds, run->feeds, wanted);
    for (size_t i = 0; i < wanted.size(); ++i) give(wanted[i], std::move(results[i]), run, sink);
  }

  double seconds() const override { return seconds_; }

  // The library writes a file when it is told to end.
  bool profiles_each_run() const override { return false; }
  std::vector<exec::LayerSeconds> profile() const override {
    if (!prepared_.holder->profile) return {};
    Allocator* allocator = nullptr;
    char* path = nullptr;
    library_.call(kGetDefaultAllocator, &allocator);
    library_.call(kEndProfiling, prepared_.holder->session.get(), allocator, &path);
    const std::string file = path;
    library_.call(kFreeByAllocator, allocator, static_cast<void*>(path));
    return read_profile(file);
  }
  void bind(std::vector<exec::OutputBuffer> outputs) override { bound_.bind(std::move(outputs), prepared_.signature); }

 private:
  void give(const char* name, Owned<Value> result, const std::shared_ptr<RunHolder>& run,
            exec::TensorSink& sink) const {
    if (const exec::OutputBuffer* const buffer = bound_.find(name)) {
      return sink.accept(name, exec::BoundOutputs::tensor(*buffer));
    }
    const tensor::Datum value = to_datum(library_, std::move(result), run);
    sink.accept(name, prepared_.is_tapped ? detached(value) : value);
  }

  static bool is_empty(const tensor::Datum& value) {
    return value.is_none() || (value.is_sequence() && value.items().empty());
  }

  FeedValue empty(const exec::Feed& feed) const {
    ir::TypeId type;
    for (const ir::ValueId id : model_[model_.main_graph()].inputs) {
      if (model_.text(model_[id].name) == feed.name) type = model_[id].type;
    }
    return {{}, make_empty(library_, model_.types(), type)};
  }

  FeedValue to_feed(const exec::Feed& feed) const {
    return with_frame([&] { return fmt::format("input `{}`", printable(feed.name)); },
                      [&] { return is_empty(feed.value) ? empty(feed) : to_value(library_, feed.value); });
  }

  // Values for outputs that the library writes into memory of the caller; null for those that it allocates.
  std::vector<FeedValue> outputs_in_place(const std::vector<const char*>& wanted) const {
    std::vector<FeedValue> outputs(wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const exec::OutputBuffer* const buffer = bound_.find(wanted[i]);
      if (buffer != nullptr) outputs[i] = to_value(library_, exec::BoundOutputs::tensor(*buffer));
    }
    return outputs;
  }

  // Options by which another thread can end a run; null where nothing does.
  Owned<RunOptions> stoppable() const {
    RunOptions* options = nullptr;
    if (stop_token().stop_possible()) library_.call(kCreateRunOptions, &options);
    return library_.own(options);
  }

  std::vector<Owned<Value>> compute(std::span<const exec::Feed> feeds, const std::vector<FeedValue>& inputs,
                                    const std::vector<const char*>& wanted) {
    std::vector<const char*> names;
    std::vector<const Value*> values;
    for (size_t i = 0; i < feeds.size(); ++i) {
      names.push_back(feeds[i].name.c_str());
      values.push_back(inputs[i].value.get());
    }
    std::vector<FeedValue> in_place = outputs_in_place(wanted);
    std::vector<Value*> made(wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) made[i] = in_place[i].value.get();
    const Owned<RunOptions> options = stoppable();
    const std::stop_callback stop(stop_token(), [&] { library_.call(kTerminate, options.get()); });
    const Stopwatch watch;
    {
      const ForeignCode code(kName);
      library_.call(kRun, prepared_.holder->session.get(), options.get(), names.data(), values.data(), values.size(),
                    wanted.data(), wanted.size(), made.data());
    }
    seconds_ = watch.seconds();
    std::vector<Owned<Value>> results;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const bool is_in_place = in_place[i].value != nullptr;
      results.push_back(is_in_place ? std::move(in_place[i].value) : library_.own(made[i]));
    }
    return results;
  }

  const Library& library_;
  const ir::Model& model_;
  const Prepared& prepared_;
  exec::BoundOutputs bound_;
  double seconds_ = 0;
};

class OrtSession final : public exec::Session {
 public:
  explicit OrtSession(Prepared prepared) : prepared_(std::move(prepared)) {}

  void set_providers(const std::vector<std::string>& providers) {
    std::vector<std::string> quoted;
    quoted.reserve(providers.size());
    for (const std::string& provider : providers) quoted.push_back(python_string(provider));
    description_ = "Creating ONNX-Runtime Inference Session with providers: [" + join(quoted, ", ") + "]";
  }
  std::string description() const override { return description_; }
  void tell_assignment() { assignment_ = read_assignment(prepared_.library, prepared_.holder->session.get()); }
  std::vector<exec::AssignedNode> assignment() const override { return assignment_; }
  const exec::Signature& signature() const override { return prepared_.signature; }
  std::unique_ptr<exec::Execution> make_execution(const exec::ExecutionOptions&) const override {
    return std::make_unique<OrtExecution>(prepared_);
  }

 private:
  Prepared prepared_;
  std::string description_;
  std::vector<exec::AssignedNode> assignment_;
};

}  // namespace

std::unique_ptr<exec::Session> make_session(const Library& library, const ir::Model& model,
                                            const exec::SessionOptions& options, Diagnostics& findings) {
  exec::TappedValues values(model, options.values);
  const SignalGuard guard;
  std::shared_ptr<Holder> holder = Maker(library, model, options, findings).make(values.extra_outputs());
  const bool is_tapped = !values.extra_outputs().empty();
  std::unique_ptr<OrtSession> session = std::make_unique<OrtSession>(
      Prepared{library, model, std::move(values), std::move(holder), exec::signature_of(model), is_tapped});
  session->set_providers(chosen_providers(library, options));
  if (options.settings.has(kShowAssignment)) session->tell_assignment();
  return session;
}

}  // namespace assay::backends::ort
