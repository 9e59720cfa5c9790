// Rows and elements at the places that indices name: taken, or written behind a copy of all. Of updates of one place,
// the last one stays, or all are combined in their order.
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "engine/devices/cuda/copy.h"
#include "engine/devices/cuda/generate/element_kernel.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/layers/indexed_rows.h"

namespace assay::engine::cuda {
namespace {

constexpr unsigned kIndexedThreads = 256;
constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

// Steps and reductions as indexed.cu numbers them.
enum class Step : uint8_t { take, clear, mark, replace, combine };
enum class Reduction : uint8_t { sum, product, largest, least, none };

std::optional<Reduction> reduction_of(const Layer& layer) {
  constexpr std::array<std::string_view, 5> kNames = {"add", "mul", "max", "min", "none"};
  const std::string_view name = layer.facts(layer.nodes[0]).string("reduction", "none");
  const auto* const known = std::ranges::find(kNames, name);
  if (known == kNames.end()) return std::nullopt;
  return static_cast<Reduction>(known - kNames.begin());
}

class IndexedWriter {
 public:
  IndexedWriter(Programs& programs, const Layer& layer, const IndexedRows& rows, Reduction reduction)
      : programs_(programs),
        layer_(layer),
        rows_(rows),
        reduction_(reduction),
        type_(type_of(layer, reduction)),
        elements_(rows.count() * rows.length),
        updates_(rows.is_by_element ? elements_ : rows.count()),
        units_(layer.inputs[0].count() / (rows.is_by_element ? 1 : rows.length)) {}

  // Bits as they are, unless they are combined.
  static tensor::DType type_of(const Layer& layer, Reduction reduction) {
    const tensor::DType dtype = layer.inputs[0].dtype;
    return reduction == Reduction::none ? type_of_bits(tensor::bit_width(dtype)) : dtype;
  }

  Launches take() {
    Launches launches;
    launches.all.push_back(launch(Step::take, elements_ / pack()));
    return launches;
  }

  std::optional<Launches> scatter() {
    Launches launches;
    const ElementText copy{.inputs = {0}, .statements = "    const auto made = x0;\n", .numbers = {}, .is_exact = true};
    const TensorDesc desc = make_desc(type_of_bits(tensor::bit_width(type_)), layer_.inputs[0].dims);
    std::optional<Launch> copied =
        element_launch(programs_, copy, {{input_pointer(0), desc}}, {output_pointer(0), desc});
    if (!copied) return std::nullopt;
    launches.all.push_back(std::move(*copied));
    if (elements_ == 0) return launches;
    launches.all.push_back(launch(Step::clear, units_));
    launches.all.push_back(launch(Step::mark, updates_));
    launches.all.push_back(launch(reduction_ == Reduction::none ? Step::replace : Step::combine, elements_));
    launches.workspace_bytes = static_cast<uint64_t>(updates_ + 2 * units_) * sizeof(int32_t);
    return launches;
  }

 private:
  // Neighbours of a row that are moved at once.
  int64_t pack() const {
    constexpr int64_t kPackBits = 128;
    int64_t pack = rows_.is_by_element ? 1 : kPackBits / tensor::bit_width(type_);
    while (rows_.length % pack != 0) pack /= 2;
    return pack;
  }

  Launch launch(Step step, int64_t elements) {
    KernelWriter writer;
    const bool takes = step == Step::take;
    writer.constant("kStep", static_cast<int64_t>(step));
    writer.constant("kReduction", static_cast<int64_t>(step == Step::combine ? reduction_ : Reduction::none));
    writer.constant("kIsFloat", is_short_float(type_) ? 1 : 0);
    writer.constant("kIsByElement", rows_.is_by_element ? 1 : 0);
    writer.constant("kPack", takes ? pack() : 1);
    writer.type("T", type_);
    writer.type("Index", layer_.inputs[1].dtype);
    writer.pointer("kData", takes ? "const T" : "T", takes ? input_pointer(0) : output_pointer(0));
    writer.pointer("kSide", takes ? "T" : "const T", takes ? output_pointer(0) : input_pointer(2));
    writer.pointer("kIndex", "const Index", input_pointer(1));
    writer.pointer("kFault", "int", fixed_pointer({programs_.card().fault()}));
    const auto word = static_cast<int64_t>(sizeof(int32_t));
    writer.pointer("kUnits", "int", workspace_pointer());
    writer.pointer("kFirst", "int", workspace_pointer(updates_ * word));
    writer.pointer("kLast", "int", workspace_pointer((updates_ + units_) * word));
    writer.number("kElements", elements);
    writer.divisor("kLength", rows_.length / (takes ? pack() : 1));
    writer.text(place_text(writer.launch()));
    return writer.finish(programs_, kIndexedThreads, blocks_for(elements, kIndexedThreads), indexed_text());
  }

  // `place_of`, where each number of an index is checked.
  std::string place_text(Launch& launch) const {
    std::string made =
        "DEVICE int64 place_of(const Params& p, uint32 rest, uint32 column) {\n  int64 place = 0, at = 0, number;\n"
        "  uint32 q;\n";
    for (size_t dim = rows_.shape.size(); dim-- > 0;) {
      made += fmt::format(
          "  q = quotient(rest, DIVISOR({0}));\n  number = rest - q * (uint32)p.n[{0}];\n  place += number * "
          "p.n[{1}];\n"
          "  at += number * p.n[{2}];\n  rest = q;\n",
          launch.numbers.size(), launch.numbers.size() + 3, launch.numbers.size() + 4);
      launch.add_divisor(rows_.shape[dim]);
      launch.add(rows_.data_strides[dim]);
      launch.add(rows_.index_strides[dim]);
    }
    made += fmt::format("  at += (int64)column * p.n[{0}];\n  place += (int64)column * p.n[{1}];\n",
                        launch.numbers.size(), launch.numbers.size() + 1);
    launch.add(rows_.is_by_element ? rows_.index_step : 0);
    launch.add(rows_.is_by_element ? rows_.data_step : 1);
    for (size_t i = 0; i < rows_.numbers.size(); ++i) {
      made += fmt::format(
          "  number = kIndex[at + {0} * (int64)p.n[{1}]];\n  if (number < 0) number += p.n[{2}];\n"
          "  if ((uint64)number >= (uint64)p.n[{2}]) {{\n    *kFault = 1;\n    return -1;\n  }}\n"
          "  place += number * p.n[{3}];\n",
          i, launch.numbers.size(), launch.numbers.size() + 1, launch.numbers.size() + 2);
      launch.add(rows_.number_step);
      launch.add(rows_.numbers[i].limit);
      launch.add(rows_.numbers[i].step);
    }
    return made + "  return place;\n}\n";
  }

  Programs& programs_;
  const Layer& layer_;
  const IndexedRows& rows_;
  Reduction reduction_;
  tensor::DType type_;
  int64_t elements_;  // of all rows
  int64_t updates_;   // that have a place: rows, or elements
  int64_t units_;     // places of updates
};

template <IndexedOperator kOperator>
class Indexed final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override {
    constexpr std::array<std::string_view, 5> kNames = {"movement.gather", "movement.gather_elements",
                                                        "movement.gather_places", "movement.scatter_places",
                                                        "movement.scatter_elements"};
    return kNames[static_cast<size_t>(kOperator)];
  }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<IndexedRows> rows = find_indexed_rows(layer, kOperator);
    if (!rows || rows->length == 0) return {};
    const bool scatters = layer.inputs.size() == 3;
    const TensorDesc& data = layer.inputs[0];
    const TensorDesc& side = scatters ? layer.inputs[2] : layer.outputs[0];
    if (!has_layout(side, Layout::plain) || !has_layout(layer.outputs[0], Layout::plain)) return {};
    if (data.count() == 0 || layer.outputs[0].count() == 0) return {};
    for (const TensorDesc* const desc : {&data, &side, &layer.inputs[1]}) {
      if (desc->count() > kMostElements) return {};
    }
    const std::optional<Reduction> reduction = reduction_of(layer);
    if (!reduction) return {};
    if (element_type(IndexedWriter::type_of(layer, *reduction)).empty()) return {};
    IndexedWriter writer(programs(), layer, *rows, *reduction);
    if (!scatters) return make_kernel(writer.take());
    std::optional<Launches> launches = writer.scatter();
    return launches ? make_kernel(std::move(*launches)) : nullptr;
  }
};

}  // namespace

KernelFamily cuda_kernel_indexed() {
  return family_of<Indexed<IndexedOperator::gather>, Indexed<IndexedOperator::gather_elements>,
                   Indexed<IndexedOperator::gather_places>, Indexed<IndexedOperator::scatter_places>,
                   Indexed<IndexedOperator::scatter_elements>>();
}

}  // namespace assay::engine::cuda
