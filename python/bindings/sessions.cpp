#include <unistd.h>

#include "base/error.h"
#include "collector.h"
#include "context.h"
#include "engine/plan/saved_plan.h"
#include "exec/backend.h"
#include "exec/feeds.h"
#include "lent_arrays.h"
#include "library/content.h"
#include "tasks/threads.h"

namespace assay::python {
namespace {

nb::object dims_of(const exec::PortType& type) {
  if (!type.ranked) return nb::none();
  nb::list dims;
  for (const exec::PortDim& dim : type.dims) {
    if (dim.size)
      dims.append(*dim.size);
    else if (dim.text.empty() || dim.text == "?")
      dims.append(nb::none());
    else
      dims.append(dim.text);
  }
  return dims;
}

// (name, element type or None, dims or None, whether its elements decide shapes)
nb::list ports_of(const std::vector<exec::Port>& ports) {
  nb::list found;
  for (const exec::Port& port : ports) {
    nb::object type = nb::none();
    nb::object dims = nb::none();
    if (port.type && tensor::is_known(port.type->dtype)) type = nb::cast(tensor::name(port.type->dtype));
    if (port.type) dims = dims_of(*port.type);
    found.append(nb::make_tuple(port.name, type, dims, port.is_shape));
  }
  return found;
}

using RawBuffer = std::tuple<std::string, uintptr_t, std::vector<int64_t>>;  // name, address, shape

// Memory that somebody else vouches for.
class RawStorage final : public tensor::Storage {
 public:
  explicit RawStorage(tensor::Bytes bytes) : bytes_(bytes) {}
  uint64_t size_bytes() const override { return bytes_.size(); }
  tensor::Bytes bytes() const override { return bytes_; }

 private:
  tensor::Bytes bytes_;
};

// What lies at an address, which the caller vouches for.
Array array_at(uintptr_t address, const std::string& type, const std::vector<int64_t>& shape) {
  const tensor::DType dtype = tensor::find_dtype(type).value_or(tensor::DType::undefined);
  uint64_t count = 1;
  for (const int64_t dim : shape) count *= static_cast<uint64_t>(dim);
  std::vector<std::byte> copied;
  const tensor::Bytes bytes = bytes_at(address, tensor::packed_bytes(dtype, count).value_or(0), copied);
  tensor::StoragePtr storage =
      copied.empty() ? std::make_shared<RawStorage>(bytes) : tensor::make_owned(std::move(copied));
  return {tensor::Tensor(dtype, shape, std::move(storage)), false};
}

class Execution {
 public:
  Execution(SessionPtr session, bool profiles)
      : context_(std::make_shared<Context>(session, session->session->make_execution({.profiles = profiles}))) {}

  nb::dict run(const nb::dict& feeds, const std::optional<std::vector<std::string>>& names, bool keeps) {
    struct Job {
      tensor::NamedData given;
      std::vector<std::string> wanted;
      Collector collector;
    };
    const auto job = std::make_shared<Job>(Job{.given = {},
                                               .wanted = names ? *names : session().output_names(),
                                               .collector = Collector(keeps ? session().session.get() : nullptr)});
    const bool reads_card = take_feeds(feeds, job->given);
    const auto work = [context = context_, job, reads_card, keeps] {
      const Use use(context);
      Diagnostics findings;
      context->execution->bind({});
      context->execution->keep_on_device(keeps);
      context->execution->follow(reads_card ? std::optional(kDefaultStream) : std::nullopt);
      const std::vector<exec::Feed> fed = exec::check_feeds(context->session->signature(), job->given, findings);
      context->run_as_rank([&] { context->execution->run(fed, job->wanted, job->collector); });
    };
    if (may_be_long())
      run_interruptibly(work, reads_card ? AfterStop::wait : AfterStop::leave);
    else
      unlocked(work);
    return job->collector.take(job->wanted, context_->session);
  }

  // Runs by run_bound() read inputs and write outputs where the addresses say.
  void bind_at(const std::vector<RawBuffer>& inputs, const std::vector<RawBuffer>& outputs) {
    const Use use(context_);
    tensor::NamedData given;
    for (const auto& [name, address, shape] : inputs) given.push_back({name, tensor_at(name, address, shape)});
    Diagnostics findings;
    feeds_ = exec::check_feeds(session().signature(), given, findings);
    std::vector<exec::OutputBuffer> buffers;
    wanted_.clear();
    for (const auto& [name, address, shape] : outputs) {
      const tensor::Tensor place = tensor_at(name, address, shape);
      auto* const data = reinterpret_cast<std::byte*>(address);  // NOLINT: an address is what the caller has
      const bool is_host = dynamic_cast<const RawStorage*>(place.storage().get()) != nullptr;
      buffers.push_back(
          {name, place.dtype(), place.shape(), {data, place.size_bytes()}, is_host ? nullptr : place.storage()});
      wanted_.push_back(name);
    }
    context_->execution->bind(std::move(buffers));
  }

  void run_bound() {
    const auto work = [this] {
      const Use use(context_);
      Ignore ignore;
      context_->run_as_rank([&] { context_->execution->run(feeds_, wanted_, ignore); });
    };
    if (may_be_long())
      run_interruptibly(work, AfterStop::wait);  // it writes to memory of the caller
    else
      unlocked(work);
  }

  // Runs that follow are the part of this rank; none: they are by themselves.
  void join(std::shared_ptr<backends::Meeting> meeting, int64_t rank) {
    const Use use(context_);
    if (meeting != nullptr && (rank < 0 || rank >= meeting->count()))
      fail(ErrorCode::usage, "there is no rank {} among {}", rank, meeting->count());
    context_->meeting = std::move(meeting);
    context_->rank = rank;
  }

  void follow(std::optional<uint64_t> stream) { context_->execution->follow(stream); }

  double seconds() const { return context_->execution->seconds(); }
  std::vector<std::tuple<std::string, std::string, double>> profile() const {
    std::vector<std::tuple<std::string, std::string, double>> layers;
    for (const exec::LayerSeconds& layer : context_->execution->profile()) {
      layers.emplace_back(layer.layer, layer.op, layer.seconds);
    }
    return layers;
  }

 private:
  struct Ignore final : exec::TensorSink {
    void accept(std::string_view, const tensor::Datum&) override {}
  };

  const Session& session() const { return *context_->session; }

  static constexpr uint64_t kDefaultStream = 0;  // that of arrays on cards by their protocol

  // True: arrays on a card are among them, which are read where they lie.
  bool take_feeds(const nb::dict& feeds, tensor::NamedData& given) const {
    const auto held = nb::steal<nb::dict>(PyDict_Copy(feeds.ptr()));  // arrays may change it when they are asked
    nb::dict of_host;
    for (const auto [name, value] : held) {
      if (nb::isinstance<nb::str>(name) && is_on_card(value)) {
        const auto text = nb::cast<std::string>(name);
        given.push_back({text, lent_tensor(*session().session, text, value)});
      } else {
        of_host[name] = value;
      }
    }
    const bool reads_card = !given.empty();
    for (tensor::NamedDatum& datum : to_named_data(of_host)) given.push_back(std::move(datum));
    return reads_card;
  }

  // Of a run that was long before, or that is the first one, in the thread that Python interrupts.
  bool may_be_long() const {
    constexpr double kLongSeconds = 0.05;
    const double last = context_->execution->seconds();
    return (last <= 0 || last > kLongSeconds) && getpid() == gettid();
  }

  tensor::Tensor tensor_at(const std::string& name, uintptr_t address, const std::vector<int64_t>& shape) const {
    const exec::Port* port = exec::find_port(session().signature().inputs, name);
    if (port == nullptr) port = exec::find_port(session().signature().outputs, name);
    if (port == nullptr || !port->type) fail(ErrorCode::usage, "there is no tensor `{}`", name);
    uint64_t count = 1;
    for (const int64_t dim : shape) count *= static_cast<uint64_t>(dim);
    const auto size = tensor::packed_bytes(port->type->dtype, count);
    if (!size) fail(ErrorCode::unsupported, "`{}` has no elements that lie in memory", name);
    tensor::StoragePtr storage = context_->session->session->lent(address, *size);
    const auto* const data = reinterpret_cast<const std::byte*>(address);  // NOLINT: likewise
    if (!storage) storage = std::make_shared<RawStorage>(tensor::Bytes{data, *size});
    return {port->type->dtype, shape, std::move(storage)};
  }

  std::shared_ptr<Context> context_;
  std::vector<exec::Feed> feeds_;  // of run_bound()
  std::vector<std::string> wanted_;
};

using Settings = std::map<std::string, std::vector<std::string>>;

struct Wanted {
  std::string backend;
  Settings settings;
  std::vector<std::string> values;
  unsigned threads = 0;
};

exec::SessionOptions options_of(const Wanted& wanted) {
  exec::SessionOptions options;
  options.threads = wanted.threads;
  options.values = wanted.values;
  options.search.python = nb::cast<std::string>(nb::module_::import_("sys").attr("executable"));
  for (const auto& [name, values] : wanted.settings) options.settings.set(name, values);
  return options;
}

void require_whole(const Model& model) {
  for (const Finding& finding : model.findings()) {
    if (finding.severity == Finding::Severity::error) fail(ErrorCode::parse, "{}", finding.message);
  }
}

void end_if_interrupted() {
  const Locked lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

SessionPtr prepare(const Model& model, const Wanted& wanted, const nb::object& on_message) {
  require_whole(model);
  exec::SessionOptions options = options_of(wanted);
  options.on_layer = [](uint64_t, uint64_t) { end_if_interrupted(); };
  Diagnostics findings;
  SessionPtr session = unlocked([&] {
    const exec::BackendPtr backend = exec::find_backend(wanted.backend, options.search);
    return std::make_shared<Session>(model, backend->prepare(model.content().model, options, findings));
  });
  tell(findings, on_message);
  return session;
}

SessionPtr open_plan(const std::string& path, const Wanted& wanted, const nb::object& on_message) {
  const exec::SessionOptions options = options_of(wanted);
  Diagnostics findings;
  SessionPtr session = unlocked([&] {
    const exec::BackendPtr backend = exec::find_backend(wanted.backend, options.search);
    return std::make_shared<Session>(std::nullopt, backend->open_plan(path, options, findings));
  });
  tell(findings, on_message);
  return session;
}

// `on_layer(done, total)`, if it is given, is told of each layer; the build ends where it gives False.
void build_plan(const Model& model, const std::string& path, const Wanted& wanted, const nb::object& on_message,
                const nb::object& on_layer) {
  require_whole(model);
  exec::SessionOptions options = options_of(wanted);
  options.on_layer = [&](uint64_t done, uint64_t total) {
    end_if_interrupted();
    const Locked lock;
    if (!on_layer.is_none() && on_layer(done, total).is(nb::bool_(false))) {
      fail(ErrorCode::cancelled, "the build was ended");
    }
  };
  Diagnostics findings;
  unlocked([&] {
    exec::find_backend(wanted.backend, options.search)->build_plan(model.content().model, options, path, findings);
  });
  tell(findings, on_message);
}

nb::list tensors_of(const std::vector<engine::LayerTensor>& tensors) {
  nb::list found;
  for (const engine::LayerTensor& tensor : tensors) {
    const bool is_known = tensor.dtype != tensor::DType::undefined;
    nb::object type = is_known ? nb::object(nb::cast(tensor::name(tensor.dtype))) : nb::none();
    found.append(nb::make_tuple(tensor.name, type, tensor.dims, tensor.format));
  }
  return found;
}

nb::list layers_of(const engine::PlannedModel& planned) {
  nb::list found;
  for (const engine::LayerRecord& layer : planned.layers) {
    nb::dict row;
    row["name"] = layer.name;
    row["op"] = layer.op;
    row["tactic"] = layer.tactic;
    row["origins"] = layer.origins;
    row["inputs"] = tensors_of(layer.inputs);
    row["outputs"] = tensors_of(layer.outputs);
    found.append(row);
  }
  return found;
}

// (metadata of the source model, the source model, layers, whether it was stripped, whether other weights can take the
// place of those it was built with) of a plan. Weights may be missing.
nb::tuple read_plan(const std::string& path) {
  const engine::SavedPlan plan = unlocked([&] { return engine::open_plan(path); });
  const std::vector<engine::PlannedModel>& planned = plan.manifest().planned;
  const nb::list layers = planned.empty() ? nb::list() : layers_of(planned[0]);
  const bool is_stripped = plan.manifest().is_stripped;
  return nb::make_tuple(plan.source().header().metadata, library::make_model(plan.source().copy(), path, {}), layers,
                        is_stripped, is_stripped || !plan.manifest().source_weights.empty());
}

}  // namespace

void bind_sessions(nb::module_& module) {
  nb::class_<Wanted>(module, "Wanted")
      .def(
          "__init__",
          [](Wanted* self, std::string backend, Settings settings, std::vector<std::string> values, unsigned threads) {
            tasks::check_threads(threads);
            new (self) Wanted{std::move(backend), std::move(settings), std::move(values), threads};
          },
          nb::arg("backend"), nb::arg("settings") = Settings{}, nb::arg("values") = std::vector<std::string>{},
          nb::arg("threads") = 0);
  nb::class_<Session>(module, "Session")
      .def_prop_ro("inputs", [](const Session& self) { return ports_of(self.signature().inputs); })
      .def_prop_ro("outputs", [](const Session& self) { return ports_of(self.signature().outputs); })
      .def_prop_ro("description", [](const Session& self) { return self.session->description(); });
  nb::class_<backends::Meeting>(module, "Meeting")
      .def(nb::init<int64_t, double>(), nb::arg("count"), nb::arg("timeout"))
      .def_prop_ro("count", &backends::Meeting::count);
  nb::class_<Execution>(module, "Execution")
      .def(nb::init<SessionPtr, bool>(), nb::arg("session"), nb::arg("profiles") = false)
      .def("run", &Execution::run, nb::arg("feeds"), nb::arg("names") = nb::none(), nb::arg("keeps") = false)
      .def("bind_at", &Execution::bind_at)
      .def("run_bound", &Execution::run_bound)
      .def("join", &Execution::join, nb::arg("meeting").none(), nb::arg("rank") = 0)
      .def("follow", &Execution::follow, nb::arg("stream") = nb::none())
      .def("profile", &Execution::profile)
      .def_prop_ro("seconds", &Execution::seconds);
  bind_kept_arrays(module);
  module.def("abandoned_runs", abandoned_runs);
  module.def("close_interpreter", close_interpreter);
  module.def("prepare", prepare, nb::arg("model"), nb::arg("wanted"), nb::arg("on_message") = nb::none());
  module.def("open_plan", open_plan, nb::arg("path"), nb::arg("wanted"), nb::arg("on_message") = nb::none());
  module.def("build_plan", build_plan, nb::arg("model"), nb::arg("path"), nb::arg("wanted"),
             nb::arg("on_message") = nb::none(), nb::arg("on_layer") = nb::none());
  module.def("read_plan", read_plan);
  module.def("array_at", array_at);
}

}  // namespace assay::python
