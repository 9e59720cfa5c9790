// Rotary positions, written out or as an operator.
#include <limits>
#include <set>

#include <fmt/format.h>

#include "engine/devices/cuda/generate/element_chain.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/layers/element_walk.h"
#include "engine/layers/rotation.h"

namespace assay::engine::cuda {
namespace {

using Kind = Rotation::Kind;

constexpr unsigned kRotaryThreads = 256;
constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

// The dims before the last one.
TensorDesc rows_of(TensorDesc desc) {
  if (desc.dims.empty()) return desc;
  desc.dims.pop_back();
  desc.strides.pop_back();
  return desc;
}

bool lies_side_by_side(const TensorDesc& desc) { return desc.dims.back() == 1 || desc.strides.back() == 1; }

class RotaryWriter {
 public:
  explicit RotaryWriter(const Rotation& rotation) : r_(rotation), rows_(rows_of(rotation.out)) {}

  // False: an operand lies otherwise.
  bool read() {
    if (!add_stream("out", rows_) || !lies_side_by_side(r_.out)) return false;
    if (r_.positions && !add_stream("at", r_.positions->desc)) return false;
    for (size_t p = 0; p < r_.pieces.size(); ++p) {
      for (size_t i = 0; i < r_.pieces[p].operands.size(); ++i) {
        const TensorDesc& desc = r_.pieces[p].operands[i].desc;
        if (!lies_side_by_side(desc) || !add_stream(name_of(p, i), rows_of(desc))) return false;
      }
    }
    return true;
  }

  Launch write(Programs& programs) {
    const int64_t elements = r_.out.count();
    writer_.type("T", r_.out.dtype);
    writer_.pointer("kOut", "T", output_pointer(0));
    writer_.pointer("kFault", "int", fixed_pointer({programs.card().fault()}));
    writer_.number("kElements", elements);
    writer_.real("kScale", r_.scale);
    writer_.divisor("kWidth", r_.out.dims.back());
    std::string made = "DEVICE void turn(const Params& p, uint32 rest, int column) {\n" + offsets_text();
    if (r_.positions) made += positions_text();
    made += "  float made = 0;\n";
    int64_t first = 0;
    for (size_t i = 0; i < r_.pieces.size(); ++i) {
      const int64_t end = first + r_.pieces[i].width;
      made += fmt::format("  if (column >= {} && column < {}) {{\n    const int c = column - {};\n", first, end, first);
      made += piece_text(i) + "  }\n";
      first = end;
    }
    writer_.text(made + "  kOut[out + column] = Narrow<T>::of(made);\n}\n");
    return writer_.finish(programs, kRotaryThreads, blocks_for(elements, kRotaryThreads), rotary_text());
  }

 private:
  struct Stream {
    std::string name;
    std::vector<int64_t> strides;
  };

  static std::string name_of(size_t piece, size_t operand) { return fmt::format("at{}_{}", piece, operand); }

  bool add_stream(const std::string& name, const TensorDesc& desc) {
    std::optional<std::vector<int64_t>> strides = walked_strides(desc, rows_);
    if (!strides) return false;
    streams_.push_back({name, *std::move(strides)});
    return true;
  }

  // Statements that define where the row of each operand begins.
  std::string offsets_text() {
    Launch& launch = writer_.launch();
    std::vector<int64_t> extents = walked_extents(rows_);
    std::vector<std::vector<int64_t>*> strides;
    std::string made = "  uint32 q;\n  int64 i;\n";
    for (Stream& stream : streams_) {
      strides.push_back(&stream.strides);
      made += fmt::format("  int64 {} = 0;\n", stream.name);
    }
    join_walked(extents, strides);
    for (size_t dim = extents.size(); dim-- > 0;) {
      made += fmt::format("  q = quotient(rest, DIVISOR({0}));\n  i = rest - q * (uint32)p.n[{0}];\n  rest = q;\n",
                          launch.numbers.size());
      launch.add_divisor(extents[dim]);
      for (const Stream& stream : streams_) {
        if (stream.strides[dim] == 0) continue;
        made += fmt::format("  {} += i * p.n[{}];\n", stream.name, launch.numbers.size());
        launch.add(stream.strides[dim]);
      }
    }
    return made;
  }

  std::string positions_text() {
    writer_.pointer("kPositions", "const int64", input_pointer(static_cast<size_t>(r_.positions->input)));
    writer_.number("kLastPosition", r_.positions->rows - r_.positions->following);
    writer_.number("kPositionRow", r_.positions->row);
    return "  const int64 position = kPositions[at];\n  if (position < 0 || position >= kLastPosition) {\n"
           "    *kFault = 1;\n    return;\n  }\n";
  }

  // Element `c` of an operand, or the one that it says.
  std::string element(size_t piece, size_t operand, std::string_view c = "c") {
    const Rotation::Operand& from = r_.pieces[piece].operands[operand];
    const std::string pointer = fmt::format("kFrom{}_{}", piece, operand);
    if (named_.insert(pointer).second) {
      writer_.pointer(pointer, "const T", input_pointer(static_cast<size_t>(from.input)));
    }
    return fmt::format("widened({}[{} + {} + {}{}])", pointer, name_of(piece, operand), from.first, c,
                       from.is_by_position ? " + position * kPositionRow" : "");
  }

  std::string piece_text(size_t piece) {
    const auto at = [&](size_t operand, std::string_view c = "c") { return element(piece, operand, c); };
    const Kind kind = r_.pieces[piece].kind;
    if (kind == Kind::copy) return fmt::format("    made = {} * kScale;\n", at(0));
    if (kind == Kind::pairs) {
      return fmt::format(
          "    const float cosine = {}, sine = {};\n    const float x = {}, y = {};\n"
          "    made = c % 2 == 0 ? rounded_product(cosine, x) - rounded_product(sine, y)\n"
          "                      : rounded_product(sine, x) + rounded_product(cosine, y);\n",
          at(1, "c / 2"), at(2, "c / 2"), at(0, "(c & ~1)"), at(0, "(c | 1)"));
    }
    return fmt::format("    made = (rounded_product({}, {}) {} rounded_product({}, {})) * kScale;\n", at(0), at(1),
                       kind == Kind::sum ? "+" : "-", at(2), at(3));
  }

  const Rotation& r_;
  TensorDesc rows_;
  std::vector<Stream> streams_;
  std::set<std::string> named_;
  KernelWriter writer_;
};

class Rotary final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "rotary.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<Rotation> rotation = find_rotation(layer);
    if (!rotation || !is_short_float(rotation->out.dtype) || rotation->out.count() == 0) return {};
    for (const std::vector<TensorDesc>* const descs : {&layer.inputs, &layer.outputs}) {
      for (const TensorDesc& desc : *descs) {
        if (desc.exists() && desc.count() > kMostElements) return {};
      }
    }
    RotaryWriter writer(*rotation);
    return writer.read() ? single(writer.write(programs())) : nullptr;
  }
};

}  // namespace

KernelFamily cuda_kernel_rotary() { return family_of<Rotary>(); }

}  // namespace assay::engine::cuda
