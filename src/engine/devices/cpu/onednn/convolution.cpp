#include "engine/layers/convolution.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "engine/devices/cpu/forms.h"
#include "engine/devices/cpu/integers/exact_sums.h"
#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/onednn/conv_bands.h"
#include "engine/devices/cpu/onednn/conv_lanes.h"
#include "engine/devices/cpu/onednn/epilogue.h"
#include "engine/devices/cpu/onednn/kernels.h"
#include "engine/devices/cpu/processor.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu::onednn {
namespace {

constexpr int64_t kHotBytes = int64_t{192} * 1024;  // of a result that stays in the second cache until its tape has run

// The division of a layer's work, and the library's implementation that does it; empty: its first.
struct Division {
  bool by_channels = false;
  std::string implementation;
};

// One band at a place of the result.
struct Piece {
  int64_t image, first_row, rows;
  int64_t in_first;
  size_t operation;
};

// The share of one thread.
struct Share {
  Lane channels;  // of the result
  Scaling scaling;
  std::vector<Piece> pieces;
};

// The dims as the library counts them: groups, channels of the result and of the operand, rows, columns. Rows and
// columns are those of the geometry, which looks at a column as a row.
tensor::Shape dims_of_weights(const tensor::Tensor& weights, const ConvGeometry& g) {
  tensor::Shape dims = {weights.shape()[0], weights.shape()[1], g.kernel_height, g.kernel_width};
  if (g.groups > 1) {
    dims[0] /= g.groups;
    dims.insert(dims.begin(), g.groups);
  }
  if (g.is_transposed) std::swap(dims[dims.size() - 4], dims[dims.size() - 3]);
  return dims;
}

// The weights as they lie in the model.
Desc desc_of_weights(const Library& library, tensor::DType dtype, const tensor::Shape& dims, bool is_transposed) {
  if (!is_transposed) return plain_desc(library, dtype, dims);
  tensor::Shape lying = dims;
  const size_t first = dims.size() - 4;
  std::swap(lying[first], lying[first + 1]);
  tensor::Shape strides = make_desc(dtype, lying).strides;
  std::swap(strides[first], strides[first + 1]);
  return strided_desc(library, dtype, dims, strides);
}

class ConvolutionKernel final : public Kernel {
 public:
  ConvolutionKernel(const Library& library, const Layer& layer, const ConvolutionForm& source, Epilogue epilogue,
                    Division division)
      : library_(library),
        source_(source),
        g_(source_.geometry),
        epilogue_(std::move(epilogue)),
        division_(std::move(division)),
        dtype_(layer.inputs[static_cast<size_t>(source.data)].dtype),
        out_type_(layer.outputs[0].dtype),
        weights_dims_(dims_of_weights(*source.weights, g_)),
        packed_(*layer.packed),
        constant_(*source.weights) {
    // True if the library writes sums, which lie beside the result.
    const bool makes_sums = source.quantized && !epilogue_.tape.is_empty();
    is_beside_ = division_.by_channels || makes_sums;
    target_type_ = makes_sums ? tensor::DType::float32 : out_type_;
    if (source.quantized) std::tie(scaling_, bias_) = scaling_of(*source.quantized, epilogue_);
    is_ready_ = division_.by_channels ? divide_channels() : divide_rows();
  }

  bool is_ready() const { return is_ready_; }
  // The library's implementations for the first piece.
  std::vector<std::string> implementations() const {
    if (!is_ready_ || shares_.empty() || shares_[0].pieces.empty()) return {};
    const Band band = band_of(g_, 0, shares_[0].pieces[0].rows);
    return Operation::implementations(library_, describe(band, g_.out_channels, weights_dims_));
  }
  uint64_t workspace_bytes() const override { return lane_bytes() * shares_.size(); }
  std::unique_ptr<Call> bind(const Arguments& arguments) const override;

 private:
  friend class ConvolutionCall;
  struct Prepared {
    std::shared_ptr<const Operation> operation;
    Buffer weights;
  };

  uint64_t lane_bytes() const { return scratchpad_ + result_bytes_; }

  bool has_bias() const { return source_.bias >= 0 || !bias_.empty(); }

  Share share_of(const Lane& channels) const {
    return {.channels = channels, .scaling = scaling_.of(channels), .pieces = {}};
  }

  // Makes room for this many elements beside the result.
  void reserve(int64_t elements) {
    const auto bytes = static_cast<uint64_t>(elements * float_bytes(target_type_));
    result_bytes_ = std::max(result_bytes_, (bytes + 63) / 64 * 64);
  }

  bool divide_rows() {
    const int64_t rows = g_.batch * g_.out_height;
    const int64_t lanes = std::max<int64_t>(1, std::min(static_cast<int64_t>(thread_count()), rows));
    const int64_t row_bytes = g_.out_width * g_.out_channels * float_bytes(target_type_);
    const int64_t most_rows =
        epilogue_.tape.is_empty() ? rows : std::max<int64_t>(1, kHotBytes / std::max<int64_t>(row_bytes, 1));
    for (int64_t lane = 0; lane < lanes; ++lane) {
      shares_.push_back(share_of({0, g_.out_channels}));
      const auto [begin, end] = lane_of(rows, lanes, lane);
      for (int64_t row = begin; row < end;) {
        const int64_t left = std::min((row / g_.out_height + 1) * g_.out_height, end) - row;
        const int64_t parts = (left + most_rows - 1) / most_rows;
        const int64_t count = (left + parts - 1) / parts;
        if (!add_piece(row, count)) return false;
        if (is_beside_) reserve(count * g_.out_width * g_.out_channels);
        row += count;
      }
    }
    return true;
  }

  // Every lane computes some channels of whole pictures beside the result, and puts them there pixel by pixel.
  bool divide_channels() {
    const auto lanes = static_cast<int64_t>(thread_count());
    if (!can_divide_channels(g_)) return false;
    // Added tensors lie like the result.
    if (std::ranges::any_of(epilogue_.steps, [](const Epilogue::Step& step) { return step.added >= 0; })) return false;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      shares_.push_back(share_of(lane_of(g_.out_channels, lanes, lane, kChannelStep)));
      const Lane& channels = shares_.back().channels;
      reserve(g_.out_height * g_.out_width * (channels.end - channels.begin));
      for (int64_t image = 0; image < g_.batch; ++image) {
        if (!add_piece(image * g_.out_height, g_.out_height)) return false;
      }
    }
    return true;
  }

  bool add_piece(int64_t row, int64_t rows) {
    const int64_t first = row % g_.out_height;
    const Band band = band_of(g_, first, first + rows);
    const std::optional<size_t> operation = operation_for(band, shares_.back().channels);
    if (operation) shares_.back().pieces.push_back({row / g_.out_height, first, rows, band.in_first, *operation});
    return operation.has_value();
  }

  // The operation for bands of this form: one primitive does for all of them.
  std::optional<size_t> operation_for(Band band, Lane channels) {
    band.in_first = 0;
    const auto [known, is_new] = known_.try_emplace({band, channels.begin}, prepared_.size());
    if (!is_new) return known->second;
    if (band.in_rows == 0) return std::nullopt;                                         // nothing but padding
    const bool has_gaps = band.pad_top < 0 || band.pad_bottom < 0 || g_.pad_right < 0;  // rows that nothing reaches
    if (g_.is_transposed && has_gaps) return std::nullopt;
    const int64_t count = channels.end - channels.begin;
    tensor::Shape weights_dims = weights_dims_;
    if (division_.by_channels) weights_dims[0] = count;
    const Operation::Convolution convolution = describe(band, count, weights_dims);
    std::shared_ptr<const Operation> made = Operation::make(library_, convolution, division_.implementation);
    if (!made) return std::nullopt;
    const uint64_t first = static_cast<uint64_t>(channels.begin) * constant_.size_bytes() /
                           static_cast<uint64_t>(std::max<int64_t>(constant_.shape()[0], 1));
    const WeightsPart part{constant_, desc_of_weights(library_, constant_.dtype(), weights_dims, g_.is_transposed),
                           first};
    scratchpad_ = std::max(scratchpad_, (made->scratchpad_bytes() + 63) / 64 * 64);
    Buffer weights = pack(library_, packed_, part, made->weights());
    prepared_.push_back({std::move(made), std::move(weights)});
    return known->second;
  }

  Operation::Convolution describe(const Band& band, int64_t out_channels, const tensor::Shape& weights_dims) const {
    Operation::Convolution convolution;
    convolution.source = strided_desc(library_, dtype_, {1, g_.channels, band.in_rows, g_.width},
                                      {g_.channels * band.in_rows * g_.width, 1, g_.channels * g_.width, g_.channels});
    const tensor::Shape out_dims = {1, out_channels, band.out_rows, g_.out_width};
    const tensor::Shape out_strides = {out_channels * band.out_rows * g_.out_width, 1, out_channels * g_.out_width,
                                       out_channels};
    convolution.target = strided_desc(library_, target_type_, out_dims, out_strides);
    convolution.weights = any_desc(library_, constant_.dtype(), weights_dims);
    const tensor::DType bias_type = source_.quantized ? tensor::DType::float32 : dtype_;
    if (has_bias()) convolution.bias = plain_desc(library_, bias_type, {out_channels});
    if (source_.quantized) convolution.scaling = &shares_.back().scaling;
    convolution.sums_codes = source_.quantized.has_value();
    convolution.is_grouped = g_.groups > 1;
    convolution.is_transposed = g_.is_transposed;
    convolution.strides = {g_.stride_y, g_.stride_x};
    convolution.dilations = {g_.dilation_y - 1, g_.dilation_x - 1};
    convolution.padding_before = {band.pad_top, g_.pad_left};
    convolution.padding_after = {band.pad_bottom, g_.pad_right};
    convolution.appended = epilogue_.appended(library_, out_dims, out_strides);
    return convolution;
  }

  const Library& library_;
  ConvolutionForm source_;
  const ConvGeometry& g_;
  Epilogue epilogue_;
  Division division_;
  tensor::DType dtype_;        // of the data
  tensor::DType target_type_;  // of what the library writes
  tensor::DType out_type_;
  bool is_beside_ = false;  // the library writes beside the result
  Scaling scaling_;
  std::vector<float> bias_;  // of integers, in the epilogue's unit
  tensor::Shape weights_dims_;
  PackedWeights& packed_;
  const tensor::Tensor& constant_;
  std::vector<Share> shares_;  // by lane
  std::map<std::pair<Band, int64_t>, size_t> known_;
  std::vector<Prepared> prepared_;
  uint64_t scratchpad_ = 0;    // of a lane
  uint64_t result_bytes_ = 0;  // likewise, beside the result
  bool is_ready_ = false;
};

class ConvolutionCall final : public Call {
 public:
  ConvolutionCall(const ConvolutionKernel& kernel, const Arguments& arguments) : kernel_(kernel) {
    for (size_t lane = 0; lane < kernel.shares_.size(); ++lane) {
      std::vector<Running>& running = running_.emplace_back();
      for (const ConvolutionKernel::Prepared& prepared : kernel.prepared_) running.emplace_back(*prepared.operation);
    }
    rebind(arguments);
  }

  void rebind(const Arguments& arguments) override {
    arguments_ = arguments;
    for (size_t lane = 0; lane < running_.size(); ++lane) {
      for (size_t i = 0; i < running_[lane].size(); ++i) {
        Running& running = running_[lane][i];
        running.set(kWeights, host<const std::byte>(kernel_.prepared_[i].weights.first));
        if (kernel_.source_.quantized) {
          running.set(kernel_.shares_[lane].scaling);
          running.set(kBias, kernel_.bias_.data() + kernel_.shares_[lane].channels.begin);
        } else if (kernel_.source_.bias >= 0) {
          const Address bias = arguments.inputs[static_cast<size_t>(kernel_.source_.bias)];
          running.set(kBias, at(bias, kernel_.shares_[lane].channels.begin, kernel_.dtype_));
        }
        running.set(kScratchpad, host<std::byte>(arguments.workspace + lane * kernel_.lane_bytes()));
      }
    }
  }

  void run(Queue&) override {
    parallel_for(running_.size(), 1, [&](uint64_t begin, uint64_t end) {
      const OneThread one(kernel_.library_);
      for (uint64_t lane = begin; lane < end; ++lane) run_lane(lane);
    });
  }

 private:
  static std::byte* at(Address address, int64_t element, tensor::DType dtype) {
    return host<std::byte>(address) + element * float_bytes(dtype);
  }

  void run_lane(uint64_t lane) {
    const ConvGeometry& g = kernel_.g_;
    const Share& share = kernel_.shares_[lane];
    auto* const beside = host<std::byte>(arguments_.workspace + lane * kernel_.lane_bytes() + kernel_.scratchpad_);
    const Address data = arguments_.inputs[static_cast<size_t>(kernel_.source_.data)];
    for (const Piece& piece : share.pieces) {
      Running& running = running_[lane][piece.operation];
      const int64_t begin = (piece.image * g.out_height + piece.first_row) * g.out_width * g.out_channels;
      std::byte* const out = at(arguments_.outputs[0], begin, kernel_.out_type_);
      std::byte* const target = kernel_.is_beside_ ? beside : out;
      const int64_t first_pixel = (piece.image * g.height + piece.in_first) * g.width;
      running.set(kSource, at(data, first_pixel * g.channels, kernel_.dtype_));
      running.set(kTarget, target);
      add(running, begin);
      running.execute();
      if (kernel_.division_.by_channels)
        place(share.channels, beside, begin);
      else if (!kernel_.epilogue_.tape.is_empty())
        kernel_.epilogue_.tape.run(target, out, arguments_.inputs, begin,
                                   begin + piece.rows * g.out_width * g.out_channels);
    }
  }

  // Has what is added read from this element on.
  void add(Running& running, int64_t begin) {
    const std::vector<Epilogue::Step>& steps = kernel_.epilogue_.steps;
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].added < 0) continue;
      running.set(operand_of_appended(static_cast<int>(i)),
                  at(arguments_.inputs[static_cast<size_t>(steps[i].added)], begin, steps[i].dtype));
    }
  }

  // A picture's channels from beside the result into it.
  void place(const Lane& channels, const std::byte* beside, int64_t begin) {
    const ConvGeometry& g = kernel_.g_;
    const int64_t count = channels.end - channels.begin;
    const int64_t pixels = g.out_height * g.out_width;
    const int64_t first = begin + channels.begin;
    std::byte* const out = at(arguments_.outputs[0], first, kernel_.out_type_);
    if (!kernel_.epilogue_.tape.is_empty()) {
      kernel_.epilogue_.tape.run_rows({beside, count}, out, arguments_.inputs, {first, g.out_channels, pixels, count});
      return;
    }
    const int64_t bytes = float_bytes(kernel_.target_type_);
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      std::memcpy(out + pixel * g.out_channels * bytes, beside + pixel * count * bytes,
                  static_cast<size_t>(count * bytes));
    }
  }

  const ConvolutionKernel& kernel_;
  Arguments arguments_;
  std::vector<std::vector<Running>> running_;  // by lane and operation
};

std::unique_ptr<Call> ConvolutionKernel::bind(const Arguments& arguments) const {
  return std::make_unique<ConvolutionCall>(*this, arguments);
}

// `channels/jit:avx512_core`
Division parse_division(std::string_view variant) {
  const size_t slash = std::min(variant.find('/'), variant.size());
  return {.by_channels = variant.substr(0, slash) == "channels",
          .implementation = std::string(variant.substr(std::min(slash + 1, variant.size())))};
}

// Before AVX-512 VNNI, what oneDNN's kernels add to depthwise sums of codes is wrong in the last channels, where these
// do not fill a vector.
bool can_append(const ConvolutionForm& source, const Division& division) {
  constexpr int64_t kVector = 8;
  const ConvGeometry& g = source.geometry;
  if (!source.quantized) return !division.by_channels;
  return has_avx512_vnni() || g.groups != g.channels || g.out_channels % kVector == 0;
}

// Lanes that divide channels compute beside the result, where nothing to add lies like it.
std::unique_ptr<ConvolutionKernel> make(const Library& library, const Layer& layer, const Division& division) {
  const ConvolutionForm* const found = convolution_of(layer);
  std::optional<ConvolutionForm> source = found == nullptr ? std::nullopt : std::optional(*found);
  if (!source || source->is_sum || !source->weight_zeros.empty()) return {};
  const tensor::DType codes = layer.inputs[static_cast<size_t>(source->data)].dtype;
  if (source->quantized && !are_sums_exact(codes, *source->weights)) return {};
  const ConvGeometry& g = source->geometry;
  const bool has_padding = g.pad_top > 0 || g.pad_left > 0 || g.pad_bottom > 0 || g.pad_right > 0;
  if (source->quantized && !has_padding) source->quantized = without_zero_point(*std::move(source->quantized), 0);
  for (const bool is_appended : {true, false}) {
    if (is_appended && !can_append(*source, division)) continue;
    std::optional<Epilogue> epilogue = is_appended && source->quantized
                                           ? make_integer_epilogue(layer, source->done)
                                           : make_epilogue(layer, is_appended, source->done);
    if (!epilogue || (epilogue->quantizer && !source->quantized)) continue;
    auto kernel = std::make_unique<ConvolutionKernel>(library, layer, *source, std::move(*epilogue), division);
    if (kernel->is_ready()) return kernel;
  }
  return {};
}

}  // namespace

std::vector<std::string> convolution_variants(const Library& library, const Layer& layer) {
  const std::unique_ptr<ConvolutionKernel> kernel = make(library, layer, {});
  std::vector<std::string> variants;
  if (!kernel) return variants;
  for (const std::string& name : kernel->implementations()) {
    for (const char* const division : {"rows", "channels"}) variants.push_back(fmt::format("{}/{}", division, name));
  }
  return variants;
}

std::unique_ptr<Kernel> make_convolution(const Library& library, const Layer& layer, std::string_view variant) {
  if (!variant.empty()) return make(library, layer, parse_division(variant));
  std::unique_ptr<Kernel> kernel;
  const ConvolutionForm* const source = convolution_of(layer);
  if (source != nullptr && has_few_rows(source->geometry))
    kernel = make(library, layer, {.by_channels = true, .implementation = ""});
  return kernel ? std::move(kernel) : make(library, layer, {});
}

}  // namespace assay::engine::cpu::onednn
