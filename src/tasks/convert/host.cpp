#include "tasks/convert/host.h"

#include "base/paths.h"
#include "exec/runner.h"
#include "remote/isolated_backend.h"

namespace assay::tasks {
namespace {

std::string usual_backend(const exec::LibrarySearch& search) {
  constexpr std::string_view kFast = "onnxrt";
  const bool is_there = exec::make_backend(kFast)->probe(search).usable;
  return is_there ? std::string(kFast) : "ref";
}

class CountingSink final : public exec::TensorSink {
 public:
  CountingSink(exec::TensorSink& sink, Counter& progress) : sink_(sink), progress_(progress) {}
  void accept(std::string_view name, const tensor::Datum& value) override {
    sink_.accept(name, value);
    progress_.advance();
  }

 private:
  exec::TensorSink& sink_;
  Counter& progress_;
};

class CountedRunner final : public exec::Runner {
 public:
  CountedRunner(exec::RunnerPtr runner, Counter& progress) : runner_(std::move(runner)), progress_(progress) {}

  const std::string& name() const override { return runner_->name(); }
  bool is_live() const override { return runner_->is_live(); }
  void open(Diagnostics& findings) override { runner_->open(findings); }
  void close() override { runner_->close(); }
  const exec::Signature& signature() const override { return runner_->signature(); }
  exec::TapAnswer answer(std::string_view value) const override { return runner_->answer(value); }
  std::string description() const override { return runner_->description(); }
  std::optional<uint64_t> iterations() const override { return runner_->iterations(); }

  std::optional<double> run(uint64_t iteration, std::span<const exec::Feed> feeds, std::span<const std::string> values,
                            exec::TensorSink& sink) override {
    CountingSink counting(sink, progress_);
    const std::optional<double> seconds = runner_->run(iteration, feeds, values, counting);
    if (values.empty()) progress_.advance();  // inputs alone are one step
    return seconds;
  }

 private:
  exec::RunnerPtr runner_;
  Counter& progress_;
};

// True of models of very many small layers. ONNX Runtime takes time to rewrite a model that grows with the square of
// its nodes, and saves a time of runs that grows with its constants.
bool is_run_sooner_as_it_is(const ir::Model& model) {
  constexpr uint64_t kFewNodes = 1000;
  const uint64_t nodes = model.node_slots();
  uint64_t elements = 0;
  for (uint32_t i = 0; i < model.tensor_slots(); ++i) elements += model[ir::TensorId{i}].tensor.count();
  return nodes > kFewNodes && nodes * nodes > elements;
}

// Values of the runners that it makes are its steps; they must not outlive it.
class CountedWork final : public convert::MeasuringWork {
 public:
  CountedWork(Observer& observer, std::string what, uint64_t steps, const std::string& backend,
              const exec::SessionOptions& session)
      : observer_(observer), progress_(observer, std::move(what), steps), backend_(backend), session_(session) {}

  exec::RunnerPtr runner(const ir::Model& model, const exec::TapPlan& taps, const std::string& name) override {
    exec::SessionOptions options = session_;
    for (const std::vector<std::string>& group : taps)
      options.values.insert(options.values.end(), group.begin(), group.end());
    exec::BackendPtr backend = remote::safe_backend(backend_, session_.search);
    if (is_run_sooner_as_it_is(model)) {
      observer_.verbose("The model has many small layers: it is run as it is declared, without optimizations");
      for (const exec::SettingChange& change : backend->stricter_settings(options.settings))
        change.apply(options.settings);
    }
    exec::RunnerPtr runner =
        exec::backend_runner(name.empty() ? backend_ : name, std::move(backend), model, std::move(options));
    return std::make_unique<CountedRunner>(std::move(runner), progress_);
  }
  void advance() override { progress_.advance(); }

 private:
  Observer& observer_;
  Counter progress_;
  const std::string& backend_;
  const exec::SessionOptions& session_;
};

// The folder of a file that is written, or the nearest above it that is there; nullopt: no file on a disk is written.
std::optional<std::filesystem::path> folder_of(const std::filesystem::path& output) {
  if (output.empty() || (is_there(output) && !is_file(output))) return std::nullopt;
  std::filesystem::path folder = absolute_path(output).parent_path();
  while (!is_folder(folder) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

// True if the disk has room for the model as it is: for small weights that wait, and the file that they are copied to.
bool has_room(const std::filesystem::path& folder, const ir::Model& model) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < model.tensor_slots(); ++i) bytes += model[ir::TensorId{i}].tensor.size_bytes();
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  return !error && space.available >= bytes;
}

}  // namespace

JobHost::JobHost(ConversionJob& job, std::string backend) : job_(job), backend_(std::move(backend)) {
  if (job.request.builds_plan) return;
  auto folder = folder_of(job.request.edit.output);
  if (folder && has_room(*folder, job.loaded.model)) scratch_.emplace(std::move(*folder));
}

tensor::Tensor JobHost::stored(tensor::Tensor made) {
  constexpr uint64_t kLeastBytes = 64 << 10;
  if (!scratch_ || made.size_bytes() < kLeastBytes) return made;
  const std::optional<ScratchFile::Range> range = scratch_->append(made.bytes());
  if (!range) return made;
  return {made.dtype(), made.shape(), tensor::make_mapped(range->file, range->offset, made.size_bytes())};
}

convert::Measurement& JobHost::measure(const ir::Model& model) {
  if (measurement_) return *measurement_;
  if (backend_.empty()) backend_ = usual_backend(job_.request.session.search);
  data_ = make_inputs(model, job_.request.inputs, job_.observer, job_.loaded.findings);
  measurement_ =
      std::make_unique<convert::Measurement>(model.copy(), *data_.source, measuring_host(), job_.loaded.findings);
  job_.uses_inputs = true;
  return *measurement_;
}

std::unique_ptr<convert::MeasuringWork> JobHost::start(std::string what, uint64_t steps) {
  return std::make_unique<CountedWork>(job_.observer, std::move(what), steps, backend_, job_.request.session);
}

}  // namespace assay::tasks
