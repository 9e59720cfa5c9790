// Arbitrary bytes read as a plan of the engine, and a good plan with some of its bytes changed: two bytes say where,
// one what. Checksums are made to fit again, so that what is behind them is reached. Models are planned with what the
// plan says of them, and run. Only Error may come out.
#include <cstddef>
#include <cstring>

#include "backends/engine/planned.h"
#include "base/error.h"
#include "base/temporary_folder.h"
#include "engine/devices/cpu/device.h"
#include "engine/plan/plan_layout.h"
#include "engine/plan/plan_models.h"
#include "engine/run/context.h"
#include "onnx/text.h"

namespace {

using namespace assay;

constexpr ops::InterpreterOptions kLimits = {
    .max_memory_bytes = uint64_t{64} << 20, .max_steps = 1000, .max_work = 10'000'000};

template <typename T>
T load(Bytes bytes, uint64_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

void store(std::vector<std::byte>& bytes, uint64_t at, uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

// The checksums of a plan that has its table and sections where it says.
void seal(std::vector<std::byte>& plan) {
  constexpr uint64_t kHeader = sizeof(engine::PlanHeader);
  constexpr uint64_t kEntry = sizeof(engine::SectionEntry);
  if (plan.size() < kHeader + sizeof(engine::PlanTrailer)) return;
  const uint64_t at = plan.size() - sizeof(engine::PlanTrailer);
  const auto trailer = load<engine::PlanTrailer>(plan, at);
  if (trailer.sections > (at - kHeader) / kEntry) return;
  const uint64_t table = at - trailer.sections * kEntry;
  for (uint64_t i = table; i < at; i += kEntry) {
    const auto entry = load<engine::SectionEntry>(plan, i);
    if (entry.offset > plan.size() || entry.size > plan.size() - entry.offset) continue;
    store(plan, i + offsetof(engine::SectionEntry, checksum),
          engine::section_checksum(Bytes(plan).subspan(entry.offset, entry.size)));
  }
  const Bytes bytes = plan;
  store(plan, at + offsetof(engine::PlanTrailer, checksum),
        engine::table_checksum(bytes.first(kHeader), bytes.subspan(table, at - table), trailer));
}

const engine::Device& device() {
  static const std::unique_ptr<engine::Device> made = engine::cpu::make_device({});
  return *made;
}

std::vector<std::byte> make_plan() {
  Diagnostics findings;
  const ir::Model model = onnx::parse_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    net (float[n,2] x, bool c) => (float[n,2] y) <float[2,2] w = {1, 2, 3, 4}> {
      a = MatMul(x, w)
      b = Relu(a)
      y = If (c) <then_branch = t () => (float[n,2] u) { u = Exp(b) },
                  else_branch = e () => (float[n,2] v) { v = Neg(b) }>
    })",
                                           findings);
  const backends::Shapes shapes = {{"x", {3, 2}}};
  const backends::Planned planned(backends::Lowered(model, shapes, {}, {}), engine::Devices(device()), {}, {});
  engine::Manifest manifest{.devices = {{.device = "cpu", .parts = {{"processor", "x"}}}},
                            .source = "",
                            .signature = exec::signature_of(model)};
  manifest.profiles = {{{.input = "x", .least = {1, 2}, .best = {3, 2}, .most = {4, 2}}}};
  const TemporaryFolder folder;
  engine::PlanSections sections(folder.path() / "plan");
  manifest.source_weights = sections.add_model(model, true);
  manifest.planned.push_back({.shapes = shapes,
                              .weights = sections.add_model(planned.lowered().model(), true),
                              .values = planned.lowered().values(),
                              .layers = planned.layers()});
  sections.finish(manifest);
  const std::shared_ptr<const MappedFile> file = MappedFile::open(folder.path() / "plan");
  return {file->bytes().begin(), file->bytes().end()};
}

std::vector<ops::InputDatum> zeros(const engine::Program& program) {
  std::vector<ops::InputDatum> inputs;
  for (const engine::Slot& slot : program.slots()) {
    if (slot.place != engine::Slot::Place::input || !slot.desc.exists() || slot.base) continue;
    if (slot.desc.size_bytes() > kLimits.max_memory_bytes) return {};
    const tensor::StoragePtr memory = tensor::make_owned(std::vector<std::byte>(slot.desc.size_bytes()));
    inputs.push_back({slot.value, tensor::Tensor(slot.desc.dtype, slot.desc.dims, memory)});
  }
  return inputs;
}

void run(const engine::Program& program) {
  if (program.memory_bytes() > kLimits.max_memory_bytes) return;
  engine::Context context(program, kLimits, false);
  std::vector<ir::ValueId> wanted;
  for (const ir::Use& use : program.model().outputs(program.model().main_graph())) wanted.push_back(use.value);
  context.run(zeros(program), wanted, [](ir::ValueId, const tensor::Datum&) {});
}

void treat(const std::vector<std::byte>& bytes) {
  const engine::SavedPlan plan(MappedFile::from_bytes(bytes, "fuzz.engine"));
  for (size_t i = 0; i < plan.manifest().planned.size(); ++i) {
    engine::ProgramOptions options;
    options.packed = std::make_shared<engine::KeptWeights>();
    plan.preset(*options.packed);
    options.tactics.replayed = engine::tactics_of(plan.manifest().planned[i].layers);
    const std::vector<std::string> values = {"a", "b"};
    run(backends::Planned(backends::Lowered(plan, i), engine::Devices(device()), std::move(options), values).program());
  }
}

std::vector<std::byte> plan_of(Bytes input) {
  constexpr std::byte kEdits{1};
  if (input.empty() || input[0] != kEdits) return {input.begin(), input.end()};
  static const std::vector<std::byte> good = make_plan();
  std::vector<std::byte> plan = good;
  for (size_t at = 1; at + 3 <= input.size(); at += 3) {
    plan[load<uint16_t>(input, at) % plan.size()] = input[at + 2];
  }
  return plan;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> plan = plan_of(std::as_bytes(std::span(data, size)));
  seal(plan);
  try {
    treat(plan);
  } catch (const Error& error) {
    if (error.line().empty() || error.line().find_first_of("\n\r") != std::string::npos) std::abort();
  }
  return 0;
}
