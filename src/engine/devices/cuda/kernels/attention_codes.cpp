// Attention between quantisers, whose products are of codes: a warp a query.
#include <array>
#include <limits>

#include <fmt/format.h>

#include "engine/devices/cuda/generate/item_places.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/layers/code_matrices.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {
namespace {

constexpr int64_t kMostQueries = std::numeric_limits<int32_t>::max();

class CodesWriter {
 public:
  CodesWriter(const Layer& layer, const QuantizedAttention& a) : layer_(layer), a_(a), m_(code_matrices(layer, a)) {
    for (const int64_t dim : m_.items) queries_ *= dim;
    queries_ *= m_.rows;
    for (size_t i = 0; i < m_.others.size(); ++i) names_.push_back(fmt::format("other{}", i));
  }

  std::unique_ptr<Kernel> write(Programs& programs) {
    const auto shared = static_cast<int64_t>(programs.card().shared_bytes());
    const int64_t bytes = m_.keys * static_cast<int64_t>(sizeof(float));
    unsigned warps = 4;
    while (warps > 1 && warps * bytes > shared / 2) warps /= 2;
    if (queries_ == 0 || queries_ > kMostQueries || warps * bytes > shared) return nullptr;
    writer_.launch().shared_bytes = static_cast<unsigned>(bytes) * warps;
    add("Q", m_.q);
    add("K", m_.k);
    add("V", m_.v);
    add_result();
    std::vector<PlacedMatrices> places = {{"q", m_.q}, {"k", m_.k}, {"v", m_.v}, {"out", m_.out}};
    for (size_t i = 0; i < m_.others.size(); ++i) places.push_back({names_[i], m_.others[i]});
    writer_.text(item_places_text(m_.items, places, writer_.launch()));
    writer_.text(changes_text());
    add_numbers();
    return single(writer_.finish(programs, warps * 32, blocks_for(queries_, warps), attention_codes_text()));
  }

 private:
  void add(std::string_view name, const Matrices& matrices) {
    const auto input = static_cast<size_t>(matrices.input);
    writer_.type(name, layer_.inputs[input].dtype);
    writer_.pointer(fmt::format("k{}", name), fmt::format("const {}", name), input_pointer(input));
    writer_.number(fmt::format("k{}Row", name), matrices.row);
    writer_.number(fmt::format("k{}Column", name), matrices.column);
  }

  void add_result() {
    writer_.type("Out", layer_.outputs[0].dtype);
    writer_.pointer("kOut", "Out", output_pointer(0));
    writer_.number("kOutRow", m_.out.row);
    writer_.number("kOutColumn", m_.out.column);
    const float factor = a_.weights_read.scale * a_.v_codes.scale;
    writer_.constant("kGivesCodes", a_.result ? 1 : 0);
    writer_.real("kResultFactor", a_.result ? factor / a_.result->scale : factor);
    writer_.real("kResultLeast", a_.result ? least_of(*a_.result) : 0);
    writer_.number("kResultZero", a_.result ? a_.result->zero : 0);
  }

  void add_numbers() {
    writer_.number("kQueries", queries_);
    writer_.divisor("kRows", m_.rows);
    writer_.number("kKeys", m_.keys);
    writer_.number("kDepth", m_.depth);
    writer_.number("kWidth", m_.width);
    writer_.number("kQZero", a_.q_codes.zero);
    writer_.number("kKZero", a_.k_codes.zero);
    writer_.number("kVZero", a_.v_codes.zero);
    writer_.real("kFactor", a_.q_codes.scale * a_.k_codes.scale);
    writer_.real("kWeightScale", a_.weights.scale);
    writer_.real("kWeightLeast", least_of(a_.weights));
    writer_.real("kWeightShift", static_cast<float>(a_.weights.zero - a_.weights_read.zero));
  }

  // A number of the launch.
  std::string real(float value) {
    writer_.launch().add(value);
    return fmt::format("NUMBER({})", writer_.launch().numbers.size() - 1);
  }

  // `changed`: the steps from a score to what softmax is given.
  std::string changes_text() {
    std::string made = "DEVICE float changed(const Params& p, const Places& at, int row, int key, float x) {\n";
    for (size_t i = 0; i < a_.changes.size(); ++i) made += "  " + change_text(i);
    return made + "  return x;\n}\n";
  }

  std::string change_text(size_t number) {
    const ScoreChange& change = a_.changes[number];
    switch (change.kind) {
      case ScoreChange::Kind::scale:
        return fmt::format("x *= {};\n", real(change.factor));
      case ScoreChange::Kind::add:
        return fmt::format("x += {};\n", other("float", number));
      case ScoreChange::Kind::choose:
        return fmt::format("x = ({} != 0) == {} ? {} : x;\n", other("uint8", number),
                           change.hidden_where ? "true" : "false", real(change.number));
      case ScoreChange::Kind::requantise:
        break;
    }
    const std::string least = real(least_of(change.to)), most = real(least_of(change.to) + 255);
    const float shift = static_cast<float>(change.to.zero - change.from.zero);
    return fmt::format("x = (rintf(bounded(x / {}, {}, {})) + {}) * {};\n", real(change.to.scale), least, most,
                       real(shift), real(change.from.scale));
  }

  std::string other(std::string_view type, size_t number) {
    Launch& launch = writer_.launch();
    const Matrices& matrices = m_.others[number];
    launch.add(matrices.row);
    launch.add(matrices.column);
    launch.pointers.push_back(input_pointer(static_cast<size_t>(matrices.input)));
    return fmt::format("((const {}*)p.at[{}])[at.{} + (int64)row * p.n[{}] + (int64)key * p.n[{}]]", type,
                       launch.pointers.size() - 1, names_[number], launch.numbers.size() - 2,
                       launch.numbers.size() - 1);
  }

  const Layer& layer_;
  const QuantizedAttention& a_;
  CodeMatrices m_;
  int64_t queries_ = 1;
  std::vector<std::string> names_;  // of what scores are changed by
  KernelWriter writer_;
};

class AttentionCodes final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "attention.codes"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const found = form_as<QuantizedAttention>(layer);
    if (found == nullptr || layer.outputs.size() != 1) return {};
    return CodesWriter(layer, *found).write(programs());
  }
};

}  // namespace

KernelFamily cuda_kernel_attention_codes() { return family_of<AttentionCodes>(); }

}  // namespace assay::engine::cuda
