#include <algorithm>
#include <map>
#include <tuple>

#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/onednn/epilogue.h"
#include "engine/devices/cpu/onednn/kernels.h"

namespace assay::engine::cpu::onednn {
namespace {

constexpr int64_t kHotBytes = 192 * 1024;  // of a result that stays in the second cache until its tape has run

// A convolution over pictures, channels last; those of one dim are pictures of one row.
struct Geometry {
  int64_t batch, channels, height, width;
  int64_t out_channels, out_height, out_width;
  int64_t groups, kernel_height, kernel_width;
  int64_t stride_y, stride_x, dilation_y, dilation_x;
  int64_t pad_top, pad_left, pad_bottom, pad_right;
};

int64_t padding_for(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation) {
  return std::max<int64_t>(0, (out - 1) * stride + dilation * (kernel - 1) + 1 - in);
}

// The attribute for both dims; a picture of one row has 1 for the other.
std::pair<int64_t, int64_t> pair_of(const ops::Node& facts, const char* name, bool is_flat) {
  const std::vector<int64_t> values = facts.integers(name);
  if (values.empty()) return {1, 1};
  return is_flat ? std::pair(int64_t{1}, values[0]) : std::pair(values[0], values[1]);
}

void set_padding(const ops::Node& facts, bool is_flat, Geometry& g) {
  const int64_t y = padding_for(g.height, g.out_height, g.kernel_height, g.stride_y, g.dilation_y);
  const int64_t x = padding_for(g.width, g.out_width, g.kernel_width, g.stride_x, g.dilation_x);
  const std::string_view auto_pad = facts.string("auto_pad", "NOTSET");
  const std::vector<int64_t> pads = facts.integers("pads");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    const bool is_lower = auto_pad == "SAME_LOWER";
    g.pad_top = is_lower ? y - y / 2 : y / 2;
    g.pad_left = is_lower ? x - x / 2 : x / 2;
  } else if (auto_pad == "NOTSET" && !pads.empty()) {
    g.pad_top = is_flat ? 0 : pads[0];
    g.pad_left = is_flat ? pads[0] : pads[1];
  }
  g.pad_bottom = y - g.pad_top;
  g.pad_right = x - g.pad_left;
}

std::optional<Geometry> geometry_of(const Layer& layer) {
  const tensor::Shape& in = layer.inputs[0].dims;
  const tensor::Shape& out = layer.desc_of(layer.result(layer.nodes[0], 0)).dims;
  const tensor::Shape& weights = layer.inputs[1].dims;
  if ((in.size() != 3 && in.size() != 4) || layer.outputs[0].dims != out) return std::nullopt;
  const bool is_flat = in.size() == 3;
  const auto rows = [&](const tensor::Shape& shape) { return is_flat ? 1 : shape[2]; };
  const ops::Node facts = layer.facts(layer.nodes[0]);
  Geometry g{.batch = in[0], .channels = in[1], .height = rows(in), .width = in.back()};
  g.out_channels = out[1];
  g.out_height = rows(out);
  g.out_width = out.back();
  g.groups = facts.integer("group", 1);
  g.kernel_height = rows(weights);
  g.kernel_width = weights.back();
  std::tie(g.stride_y, g.stride_x) = pair_of(facts, "strides", is_flat);
  std::tie(g.dilation_y, g.dilation_x) = pair_of(facts, "dilations", is_flat);
  set_padding(facts, is_flat, g);
  return g;
}

// Rows of the result that are computed at once, and what of the operand they need.
struct Band {
  int64_t out_rows, in_first, in_rows, pad_top, pad_bottom;
  auto operator<=>(const Band&) const = default;
};

Band band_of(const Geometry& g, int64_t first, int64_t last) {
  const int64_t top = first * g.stride_y - g.pad_top;
  const int64_t bottom = (last - 1) * g.stride_y - g.pad_top + g.dilation_y * (g.kernel_height - 1) + 1;
  const int64_t in_first = std::clamp<int64_t>(top, 0, g.height);
  const int64_t in_last = std::clamp<int64_t>(bottom, in_first, g.height);
  return {last - first, in_first, in_last - in_first, in_first - top, bottom - in_last};
}

// One band at a place of the result.
struct Piece {
  int64_t image, first_row;
  int64_t in_first;
  size_t operation;
};

class ConvolutionKernel final : public Kernel {
 public:
  ConvolutionKernel(const Library& library, const Layer& layer, const Geometry& geometry, Epilogue epilogue)
      : library_(library),
        g_(geometry),
        epilogue_(std::move(epilogue)),
        packed_(*layer.packed),
        constant_(*layer.constants[1]) {
    bias_index_ = layer.inputs.size() > 2 && layer.operand(layer.nodes[0], 2).valid()
                      ? layer.input_of(layer.operand(layer.nodes[0], 2))
                      : -1;
    weights_dims_ = layer.inputs[1].dims;
    if (weights_dims_.size() == 3) weights_dims_.insert(weights_dims_.begin() + 2, 1);
    if (g_.groups > 1) {
      weights_dims_[0] /= g_.groups;
      weights_dims_.insert(weights_dims_.begin(), g_.groups);
    }
    is_ready_ = plan();
  }

  bool is_ready() const { return is_ready_; }
  uint64_t workspace_bytes() const override { return scratchpad_ * static_cast<uint64_t>(lanes_); }
  std::unique_ptr<Call> bind(const Arguments& arguments) const override;

 private:
  friend class ConvolutionCall;

  bool plan() {
    lanes_ = static_cast<int64_t>(thread_count());
    const int64_t rows = g_.batch * g_.out_height;
    lanes_ = std::max<int64_t>(1, std::min(lanes_, rows));
    const int64_t row_bytes = g_.out_width * g_.out_channels * static_cast<int64_t>(sizeof(float));
    const int64_t most_rows =
        epilogue_.tape.is_empty() ? rows : std::max<int64_t>(1, kHotBytes / std::max<int64_t>(row_bytes, 1));
    for (int64_t lane = 0; lane < lanes_; ++lane) {
      std::vector<Piece>& pieces = pieces_.emplace_back();
      const auto [begin, end] = lane_of(rows, lanes_, lane);
      for (int64_t row = begin; row < end;) {
        const int64_t image = row / g_.out_height;
        const int64_t left = std::min((image + 1) * g_.out_height, end) - row;
        const int64_t parts = (left + most_rows - 1) / most_rows;
        const int64_t count = (left + parts - 1) / parts;
        const int64_t first = row % g_.out_height;
        const Band band = band_of(g_, first, first + count);
        const std::optional<size_t> operation = operation_for(band);
        if (!operation) return false;
        pieces.push_back({image, first, band.in_first, *operation});
        row += count;
      }
    }
    return true;
  }

  // The same primitive does for all bands of one form.
  std::optional<size_t> operation_for(Band band) {
    band.in_first = 0;
    if (const auto known = known_.find(band); known != known_.end()) return known->second;
    if (band.in_rows == 0) return std::nullopt;  // nothing but padding
    Operation::Convolution convolution;
    convolution.source = strided_desc(library_, {1, g_.channels, band.in_rows, g_.width},
                                      {g_.channels * band.in_rows * g_.width, 1, g_.channels * g_.width, g_.channels});
    convolution.target = strided_desc(
        library_, {1, g_.out_channels, band.out_rows, g_.out_width},
        {g_.out_channels * band.out_rows * g_.out_width, 1, g_.out_channels * g_.out_width, g_.out_channels});
    convolution.weights = any_desc(library_, weights_dims_);
    if (bias_index_ >= 0) convolution.bias = plain_desc(library_, {g_.out_channels});
    convolution.strides = {g_.stride_y, g_.stride_x};
    convolution.dilations = {g_.dilation_y - 1, g_.dilation_x - 1};
    convolution.padding_before = {band.pad_top, g_.pad_left};
    convolution.padding_after = {band.pad_bottom, g_.pad_right};
    convolution.eltwise = epilogue_.eltwise;
    std::shared_ptr<const Operation> made = Operation::make(library_, convolution);
    if (!made) return std::nullopt;
    weights_.push_back(pack(library_, packed_, {constant_, plain_desc(library_, weights_dims_)}, made->weights()));
    scratchpad_ = std::max(scratchpad_, (made->scratchpad_bytes() + 63) / 64 * 64);
    operations_.push_back(std::move(made));
    return known_[band] = operations_.size() - 1;
  }

  const Library& library_;
  Geometry g_;
  Epilogue epilogue_;
  int bias_index_ = -1;
  tensor::Shape weights_dims_;
  PackedWeights& packed_;
  const tensor::Tensor& constant_;
  std::vector<PackedWeights::Bytes> weights_;  // by operation
  int64_t lanes_ = 1;
  std::vector<std::vector<Piece>> pieces_;  // by lane
  std::map<Band, size_t> known_;
  std::vector<std::shared_ptr<const Operation>> operations_;
  uint64_t scratchpad_ = 0;
  bool is_ready_ = false;
};

class ConvolutionCall final : public Call {
 public:
  ConvolutionCall(const ConvolutionKernel& kernel, const Arguments& arguments) : kernel_(kernel) {
    for (int64_t lane = 0; lane < kernel.lanes_; ++lane) {
      std::vector<Running>& running = running_.emplace_back();
      for (const std::shared_ptr<const Operation>& operation : kernel.operations_) running.emplace_back(*operation);
    }
    rebind(arguments);
  }

  void rebind(const Arguments& arguments) override {
    arguments_ = arguments;
    for (size_t lane = 0; lane < running_.size(); ++lane) {
      for (size_t i = 0; i < running_[lane].size(); ++i) {
        Running& running = running_[lane][i];
        running.set(kWeights, kernel_.weights_[i].get());
        if (kernel_.bias_index_ >= 0) {
          running.set(kBias, host<const float>(arguments.inputs[static_cast<size_t>(kernel_.bias_index_)]));
        }
        running.set(kScratchpad, host<std::byte>(arguments.workspace + lane * kernel_.scratchpad_));
      }
    }
  }

  void run() override {
    parallel_for(running_.size(), 1, [&](uint64_t begin, uint64_t end) {
      const OneThread one(kernel_.library_);
      for (uint64_t lane = begin; lane < end; ++lane) run_lane(lane);
    });
  }

 private:
  void run_lane(uint64_t lane) {
    const Geometry& g = kernel_.g_;
    const auto* const in = host<const float>(arguments_.inputs[0]);
    auto* const out = host<float>(arguments_.outputs[0]);
    const int64_t row = g.out_width * g.out_channels;
    const std::vector<Piece>& pieces = kernel_.pieces_[lane];
    for (size_t i = 0; i < pieces.size(); ++i) {
      const Piece& piece = pieces[i];
      Running& running = running_[lane][piece.operation];
      const int64_t begin = (piece.image * g.out_height + piece.first_row) * row;
      running.set(kSource, in + (piece.image * g.height + piece.in_first) * g.width * g.channels);
      running.set(kTarget, out + begin);
      running.execute();
      if (kernel_.epilogue_.tape.is_empty()) continue;
      const bool is_last = i + 1 == pieces.size();
      const auto [first, last] = lane_of(g.batch * g.out_height, kernel_.lanes_, static_cast<int64_t>(lane));
      const int64_t end = is_last ? last * row : (pieces[i + 1].image * g.out_height + pieces[i + 1].first_row) * row;
      kernel_.epilogue_.tape.run(out + begin, out + begin, arguments_.inputs, begin, end);
    }
  }

  const ConvolutionKernel& kernel_;
  Arguments arguments_;
  std::vector<std::vector<Running>> running_;  // by lane and operation
};

std::unique_ptr<Call> ConvolutionKernel::bind(const Arguments& arguments) const {
  return std::make_unique<ConvolutionCall>(*this, arguments);
}

}  // namespace

std::unique_ptr<Kernel> make_convolution(const Library& library, const Layer& layer) {
  if (!layer.starts_with("Conv") || layer.outputs.size() != 1 || layer.inputs[0].dtype != tensor::DType::float32)
    return {};
  if (layer.constants[1] == nullptr || !has_layout(layer.inputs[0], Layout::channels_last) ||
      !has_layout(layer.outputs[0], Layout::channels_last) || layer.outputs[0].count() == 0 ||
      layer.inputs[0].count() == 0) {
    return {};
  }
  const bool has_bias = layer.operand(layer.nodes[0], 2).valid();
  if (has_bias) {
    const int bias = layer.input_of(layer.operand(layer.nodes[0], 2));
    if (bias < 0 || !has_layout(layer.inputs[static_cast<size_t>(bias)], Layout::plain)) return {};
  }
  const std::optional<Geometry> geometry = geometry_of(layer);
  if (!geometry) return {};
  std::optional<Epilogue> epilogue = make_epilogue(layer);
  if (!epilogue) return {};
  auto kernel = std::make_unique<ConvolutionKernel>(library, layer, *geometry, std::move(*epilogue));
  if (!kernel->is_ready()) return {};
  return kernel;
}

}  // namespace assay::engine::cpu::onednn
