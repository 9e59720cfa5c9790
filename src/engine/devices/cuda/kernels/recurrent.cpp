// RNN, GRU and LSTM: the products of all inputs at first, then step by step those of the state.
#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>

#include "engine/devices/cuda/dynamic_codes.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/devices/cuda/tiles/tile_shapes.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {
namespace {

constexpr int64_t kWord = sizeof(float);
constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

// Kernels of recurrent.cu as it numbers them.
enum class Part : uint8_t { set, step, give, inputs };

struct Range {
  int64_t begin = 0, end = 0;
};

class RecurrentWriter {
 public:
  RecurrentWriter(Programs& programs, const Layer& layer, const Recurrence& r)
      : programs_(programs),
        layer_(layer),
        r_(r),
        states_(r.directions * r.batch * r.hidden),
        rows_(r.length * r.batch),
        inputs_(rows_ * r.directions * r.gates * r.hidden),
        entries_(std::min<int64_t>(r.batch, 4)),
        phases_(r.op == Recurrence::Operator::gru && !r.resets_after ? 2 : 1) {}

  std::optional<Launches> write() {
    std::optional<Launches> launches = r_.has_codes ? multiply_coded_inputs() : multiply_inputs();
    if (!launches) return std::nullopt;
    launches->workspace_bytes = std::max(launches->workspace_bytes, static_cast<uint64_t>(end_of_numbers()));
    const int64_t most = r_.has(Recurrence::kLengths) ? states_ * r_.length : states_;
    const int64_t blocks = std::min<int64_t>(blocks_for(most, kThreads), 1024);
    launches->all.push_back(launch(Part::set, {}, {}, blocks));
    add_steps(*launches);
    launches->all.push_back(launch(Part::give, {}, {}, std::min<int64_t>(blocks_for(states_, kThreads), 1024)));
    return launches;
  }

 private:
  static constexpr unsigned kThreads = 256;
  static constexpr int64_t kWarps = kThreads / 32;

  // The gates' share of all inputs, one row after the other.
  std::optional<Launches> multiply_inputs() {
    const int64_t columns = r_.directions * r_.gates * r_.hidden;
    const TileProduct product{.type = tensor::DType::float32,
                              .rows = rows_,
                              .columns = columns,
                              .depth = r_.input,
                              .items = {1},
                              .left = {input_pointer(Recurrence::kX), r_.input, 1, {0}},
                              .right = {input_pointer(Recurrence::kW), r_.input, 1, {0}}};
    TileShape shape = tile_shapes(product, FloatProducts::exact, programs_.card()).front();
    shape.splits = 1;
    const ElementText text{.statements = "    const float made = plain;\n", .numbers = {}};
    ElementSite site(text, {}, {workspace_pointer(), make_desc(tensor::DType::float32, {rows_, columns})});
    return tile_launches(programs_, product, shape, std::move(site));
  }

  // X becomes codes before it is multiplied by those of its weights.
  Launches multiply_coded_inputs() {
    Launches launches = dynamic_code_launches(programs_, {.numbers = input_pointer(Recurrence::kX),
                                                          .count = rows_ * r_.input,
                                                          .codes = codes_of_x(),
                                                          .scale = workspace_pointer(end_of_numbers()),
                                                          .zero = workspace_pointer(end_of_numbers() + kWord),
                                                          .workspace = end_of_codes()});
    const int64_t columns = r_.directions * r_.gates * r_.hidden;
    launches.all.push_back(launch(Part::inputs, {}, {}, blocks_for(columns, kThreads)));
    launches.all.back().grid[1] = static_cast<unsigned>((rows_ + entries_ - 1) / entries_);
    return launches;
  }

  // A block goes through all steps if the weights of the state stay in a processor's cache, or steps are very many.
  void add_steps(Launches& launches) {
    constexpr int64_t kNearBytes = 256 << 10, kMostSteps = 1024;
    const bool is_of_block =
        r_.has_codes || r_.gates * r_.hidden * r_.hidden * kWord <= kNearBytes || r_.length > kMostSteps;
    if (is_of_block) {
      launches.all.push_back(launch(Part::step, {0, r_.length}, {0, phases_}, 1));
      return;
    }
    const Launch first = launch(Part::step, {0, 1}, {0, 1}, blocks_for(r_.hidden, kWarps));
    for (int64_t step = 0; step < r_.length; ++step) {
      for (int64_t phase = 0; phase < phases_; ++phase) {
        launches.all.push_back(first);
        std::vector<int32_t>& numbers = launches.all.back().numbers;
        numbers[0] = static_cast<int32_t>(step);
        numbers[1] = static_cast<int32_t>(step + 1);
        numbers[2] = static_cast<int32_t>(phase);
        numbers[3] = static_cast<int32_t>(phase + 1);
      }
    }
  }

  // Bytes of the workspace before codes, and with them. The scale and the zero point of X lie between.
  int64_t end_of_numbers() const { return (inputs_ + 5 * states_) * kWord; }
  int64_t end_of_codes() const { return end_of_numbers() + 2 * kWord + (states_ + rows_ * r_.input + 15) / 16 * 16; }
  Pointer codes_of_h() const { return workspace_pointer(end_of_numbers() + 2 * kWord); }
  Pointer codes_of_x() const { return workspace_pointer(end_of_numbers() + 2 * kWord + states_); }

  Launch launch(Part part, const Range& steps, const Range& phases, int64_t blocks) const {
    KernelWriter writer;
    writer.number("kFirstStep", steps.begin);
    writer.number("kEndStep", steps.end);
    writer.number("kFirstPhase", phases.begin);
    writer.number("kEndPhase", phases.end);
    writer.constant("kKind", static_cast<int64_t>(part));
    writer.constant("kIsOfBlock", part == Part::step && blocks == 1 ? 1 : 0);
    add_sizes(writer);
    add_pointers(writer);
    const bool is_step = part == Part::step;
    const unsigned threads = is_step && r_.has_codes ? threads_of_step() : kThreads;
    Launch made = writer.finish(programs_, threads, blocks, recurrent_text(), r_.has_codes ? code_range_text() : "");
    if (is_step) made.grid[1] = static_cast<unsigned>(r_.directions * (r_.has_codes ? 1 : groups()));
    return made;
  }

  // Threads of a block that has all hidden elements.
  unsigned threads_of_step() const {
    constexpr uint64_t kLeast = 32, kMost = 512;
    return static_cast<unsigned>(std::clamp(std::bit_ceil(static_cast<uint64_t>(r_.hidden)), kLeast, kMost));
  }
  int64_t groups() const { return (r_.batch + entries_ - 1) / entries_; }

  void add_sizes(KernelWriter& writer) const {
    writer.number("kLength", r_.length);
    writer.number("kBatch", r_.batch);
    writer.number("kHidden", r_.hidden);
    writer.number("kDirections", r_.directions);
    writer.number("kGroups", groups());
    writer.real("kClip", r_.cells.front().clip);
    writer.text(fmt::format("#define kFunctions {}\n", writer.launch().numbers.size()));
    for (const RecurrentCell& cell : r_.cells) {
      for (const CellFunction function : cell.functions) writer.launch().add(static_cast<int64_t>(function));
    }
    writer.constant("kOperator", static_cast<int64_t>(r_.op));
    writer.constant("kGates", r_.gates);
    writer.constant("kEntries", entries_);
    writer.constant("kResetsAfter", r_.resets_after ? 1 : 0);
    writer.constant("kCouples", r_.cells.front().couples ? 1 : 0);
    writer.constant("kGoesBack", r_.goes_back ? 1 : 0);
    writer.constant("kIsBatchFirst", r_.is_batch_first ? 1 : 0);
  }

  void add_input(KernelWriter& writer, std::string_view name, std::string_view told, int input,
                 std::string_view type = "const float") const {
    const bool is_there = r_.has(input);
    writer.pointer(name, type, input_pointer(static_cast<size_t>(is_there ? input : Recurrence::kX)));
    writer.constant(told, is_there ? 1 : 0);
  }
  void add_output(KernelWriter& writer, std::string_view name, std::string_view told, size_t output) const {
    const bool is_there = output < layer_.outputs.size() && layer_.outputs[output].exists();
    writer.pointer(name, "float", is_there ? output_pointer(output) : workspace_pointer());
    writer.constant(told, is_there ? 1 : 0);
  }

  void add_pointers(KernelWriter& writer) const {
    const auto scratch = [&](std::string_view name, int64_t place) {
      writer.pointer(name, "float", workspace_pointer((inputs_ + place * states_) * kWord));
    };
    writer.pointer("kInputs", r_.has_codes ? "float" : "const float", workspace_pointer());
    writer.constant("kHasCodes", r_.has_codes ? 1 : 0);
    if (r_.has_codes) add_codes(writer);
    scratch("kH", 0);
    scratch("kC", 2);
    scratch("kUpdate", 3);
    scratch("kReset", 4);
    writer.pointer("kR", r_.has_codes ? "const Code" : "const float", input_pointer(Recurrence::kR));
    writer.pointer("kFault", "int", fixed_pointer({programs_.card().fault()}));
    add_input(writer, "kBias", "kHasBias", Recurrence::kBias);
    add_input(writer, "kLengths", "kHasLengths", Recurrence::kLengths, "const int");
    add_input(writer, "kFirstH", "kHasH", Recurrence::kH);
    add_input(writer, "kFirstC", "kHasC", Recurrence::kC);
    add_input(writer, "kPeepholes", "kHasPeepholes", Recurrence::kPeepholes);
    add_output(writer, "kY", "kGivesAll", 0);
    add_output(writer, "kLastH", "kGivesH", 1);
    add_output(writer, "kLastC", "kGivesC", 2);
  }

  void add_codes(KernelWriter& writer) const {
    writer.number("kRows", rows_);
    writer.number("kInput", r_.input);
    writer.pointer("kCodesOfX", "uint8", codes_of_x());
    writer.pointer("kCodesOfH", "uint8", codes_of_h());
    writer.pointer("kScaleOfX", "const float", workspace_pointer(end_of_numbers()));
    writer.pointer("kZeroOfX", "const uint8", workspace_pointer(end_of_numbers() + kWord));
    writer.type("Code", layer_.inputs[Recurrence::kW].dtype);
    writer.pointer("kW", "const Code", input_pointer(Recurrence::kW));
    add_scales(writer, "W", Recurrence::kScaleOfW);
    add_scales(writer, "R", Recurrence::kScaleOfR);
  }
  // One of each direction, or of each of its columns.
  void add_scales(KernelWriter& writer, std::string_view of, int scale) const {
    const auto at = static_cast<size_t>(scale);
    const auto has_columns = [&](size_t input) { return layer_.inputs[input].count() != r_.directions ? 1 : 0; };
    writer.pointer(fmt::format("kScalesOf{}", of), "const float", input_pointer(at));
    writer.pointer(fmt::format("kZerosOf{}", of), "const Code", input_pointer(at + 1));
    writer.constant(fmt::format("kScalesOf{}HaveColumns", of), has_columns(at));
    writer.constant(fmt::format("kZerosOf{}HaveColumns", of), has_columns(at + 1));
  }

  Programs& programs_;
  const Layer& layer_;
  const Recurrence& r_;
  int64_t states_;   // numbers of the state of all directions
  int64_t rows_;     // of X
  int64_t inputs_;   // numbers of the products of all inputs
  int64_t entries_;  // of the batch that a warp has
  int64_t phases_;   // of a step
};

class Recurrent final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "recurrent.steps"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<Recurrence>(layer);
    if (form == nullptr || !layer.lies_plainly() || !is_small(*form)) return {};
    std::optional<Launches> launches = RecurrentWriter(programs(), layer, *form).write();
    return launches ? make_kernel(std::move(*launches)) : nullptr;
  }

 private:
  static bool is_small(const Recurrence& r) {
    constexpr int64_t kMostGroups = 65535;
    return r.length * r.batch * r.directions * r.gates * r.hidden <= kMostElements &&
           r.length * r.batch * r.input <= kMostElements && (!r.has_codes || r.length * r.batch <= kMostGroups) &&
           r.gates * r.hidden * std::max(r.hidden, r.input) <= kMostElements && r.directions * r.batch <= kMostGroups;
  }
};

}  // namespace

KernelFamily cuda_kernel_recurrent() { return family_of<Recurrent>(); }

}  // namespace assay::engine::cuda
