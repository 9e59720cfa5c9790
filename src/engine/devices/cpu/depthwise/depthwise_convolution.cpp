#include "engine/devices/cpu/depthwise/depthwise_convolution.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/checksum.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/forms.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/devices/cpu/tiles/code_zeros.h"
#include "engine/layers/followers.h"
#include "tensor/elements.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kMostResults = 4096;  // beside the layer's, until what follows has read them
constexpr int64_t kSquare = 3;
constexpr int64_t kMostExact = 256;    // pixels of a window of codes, whose sums float32 holds
constexpr int64_t kMostAtOnce = 128;   // channels of several pixels
constexpr int64_t kEnoughAtOnce = 64;  // likewise, where fewer would do

}  // namespace

std::optional<DepthwiseConvolution> DepthwiseConvolution::make(const Layer& layer) {
  const ConvolutionForm* const source = convolution_of(layer);
  if (source == nullptr) return std::nullopt;
  const ConvGeometry& g = source->geometry;
  const bool is_by_channel = g.groups > 1 && g.groups == g.channels;
  if (g.is_transposed || !is_by_channel || g.out_channels > kMostResults) return std::nullopt;
  const bool is_repeated = g.out_channels > g.channels;
  const bool can_repeat = std::has_single_bit(static_cast<uint64_t>(g.out_channels / g.channels)) &&
                          source->weights->dtype() == tensor::DType::float32;
  if (is_repeated && !can_repeat) return std::nullopt;
  if (source->is_integer() && g.kernel_height * g.kernel_width > kMostExact) return std::nullopt;
  const bool is_known = source->bias < 0 || layer.constants[static_cast<size_t>(source->bias)] != nullptr;
  if (source->weights->dtype() == tensor::DType::bfloat16 && !is_known) return std::nullopt;
  std::optional<Followers> followers = followers_of(layer, *source);
  if (!followers) return std::nullopt;
  return DepthwiseConvolution(layer, *source, *std::move(followers));
}

DepthwiseConvolution::DepthwiseConvolution(const Layer& layer, const ConvolutionForm& source, Followers followers)
    : g_(source.geometry),
      repeat_(g_.out_channels / g_.channels),
      data_(static_cast<size_t>(source.data)),
      dtype_(layer.inputs[data_].dtype),
      zero_(source.quantized ? static_cast<float>(source.quantized->quantizer.zero) : 0),
      zero_input_(source.zero),
      followers_(std::move(followers)),
      stretches_(stretches_of(g_)),
      bias_(source.bias),
      has_weight_zeros_(!source.weight_zeros.empty()),
      by_words_(fits_words(source)),
      makes_codes_(by_words_ && followers_.of_sums->fits_tiles() && followers_.of_sums->adds_nothing()),
      at_once_(pixels_at_once()),
      weights_(pack(layer, source, 1)),
      repeated_(at_once_ > 1 ? pack(layer, source, at_once_) : Buffer()) {
  if (by_words_ && zero_input_ < 0)
    zeros_.assign(static_cast<size_t>(g_.out_channels), static_cast<std::byte>(static_cast<int>(zero_)));
  if (dtype_ == tensor::DType::float32 || bias_ < 0) return;
  const auto numbers = tensor::load_elements<double>(*layer.constants[static_cast<size_t>(bias_)]);
  widened_bias_.assign(numbers.begin(), numbers.end());
}

std::optional<DepthwiseConvolution::Followers> DepthwiseConvolution::followers_of(const Layer& layer,
                                                                                  const ConvolutionForm& source) {
  Followers found;
  if (source.is_integer()) {
    found.of_sums = IntegerEpilogue::make(layer, source.quantized, source.geometry.out_channels, source.done);
    return found.of_sums ? std::optional(std::move(found)) : std::nullopt;
  }
  std::optional<Chain> chain = find_chain(layer, source.done, layer.result(layer.nodes[source.done - 1], 0));
  if (!chain) return std::nullopt;
  found.bounds = take_bounds(*chain);
  if (chain->steps.empty()) return found;
  std::optional<Tape> tape = Tape::make(layer, *chain);
  if (!tape) return std::nullopt;
  tape->take_floats();
  found.tape = *std::move(tape);
  return found;
}

// From left to right: at the borders one by one, all others together.
std::vector<DepthwiseConvolution::Stretch> DepthwiseConvolution::stretches_of(const ConvGeometry& g) {
  std::vector<Stretch> all;
  for (int64_t x = 0; x < g.out_width; ++x) {
    const int64_t left = x * g.stride_x - g.pad_left;
    const int64_t before = std::min(left < 0 ? parts_of(-left, g.dilation_x) : 0, g.kernel_width);
    const int64_t inside = left < g.width ? parts_of(g.width - left, g.dilation_x) : 0;
    const int64_t columns = std::max<int64_t>(std::min(g.kernel_width, inside) - before, 0);
    if (!all.empty() && all.back().column == before && all.back().columns == columns)
      ++all.back().count;
    else
      all.push_back({x, 1, before, columns});
  }
  return all;
}

// True if weights less their zero points fit into 8 bits, too.
bool DepthwiseConvolution::fits_words(const ConvolutionForm& source) {
  return source.is_integer() && has_code_windows(source.geometry.kernel_height, source.geometry.kernel_width) &&
         std::ranges::all_of(source.weight_zeros, [](int32_t zero) { return zero > -128; });
}

Buffer DepthwiseConvolution::pack(const Layer& layer, const ConvolutionForm& source, int64_t times) const {
  const uint64_t zeros_sum = checksum(std::as_bytes(std::span(source.weight_zeros)));
  const std::string zeros = has_weight_zeros_ ? fmt::format(" less {:x}", zeros_sum) : "";
  if (by_words_) {
    const auto size = static_cast<uint64_t>(words_bytes() * (has_weight_zeros_ ? 2 : 1));
    return layer.packed->get(*source.weights, fmt::format("depthwise words{}", zeros), size,
                             [&](std::byte* to) { pack_words(source, to); });
  }
  const uint64_t bytes = source.weights->count() * static_cast<uint64_t>(times) * sizeof(float);
  const std::string repeated = times == 1 ? "" : fmt::format(" {} times", times);
  return layer.packed->get(*source.weights, fmt::format("depthwise{}{}", zeros, repeated), bytes,
                           [&](std::byte* to) { pack_floats(source, times, to); });
}

void DepthwiseConvolution::pack_words(const ConvolutionForm& source, std::byte* to) const {
  pack_code_windows(source.weights->bytes().data(), g_.out_channels, g_.kernel_height, g_.kernel_width, to);
  if (!has_weight_zeros_) return;
  const int64_t window = g_.kernel_height * g_.kernel_width;
  std::vector<std::byte> taken;
  for (const int32_t zero : source.weight_zeros)
    taken.insert(taken.end(), static_cast<size_t>(window), static_cast<std::byte>(-zero));
  pack_code_windows(taken.data(), g_.out_channels, g_.kernel_height, g_.kernel_width, to + words_bytes());
}

void DepthwiseConvolution::pack_floats(const ConvolutionForm& source, int64_t times, std::byte* to) const {
  const auto numbers = tensor::load_elements<double>(*source.weights);
  const auto window = static_cast<size_t>(g_.kernel_height * g_.kernel_width);
  const auto channels = static_cast<size_t>(g_.out_channels), row = channels * static_cast<size_t>(times);
  auto* const floats = reinterpret_cast<float*>(to);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int32_t zero = has_weight_zeros_ ? source.weight_zeros[i / window] : 0;
    for (size_t first = 0; first < row; first += channels)
      floats[i % window * row + first + i / window] = static_cast<float>(numbers[i] - zero);
  }
}

// Loops for windows of three and five columns read a pixel once for several results of whole vectors.
int64_t DepthwiseConvolution::pixels_at_once() const {
  const auto width = static_cast<int64_t>(depthwise_kernels().front()->width);
  if (by_words_ || repeat_ > 1 || g_.stride_x > 1) return 1;
  const bool reads_pixels_once = g_.dilation_x == 1 && (g_.kernel_width == 3 || g_.kernel_width == 5);
  if (g_.out_channels % width == 0 && reads_pixels_once) return 1;
  int64_t pixels = std::lcm(g_.out_channels, width) / g_.out_channels;
  while (2 * pixels * g_.out_channels <= kEnoughAtOnce) pixels *= 2;
  return pixels * g_.out_channels <= kMostAtOnce && pixels <= g_.out_width ? pixels : 1;
}

float DepthwiseConvolution::zero(const Arguments& arguments) const {
  return zero_input_ < 0 ? zero_ : static_cast<float>(code_of(arguments, zero_input_, dtype_ == tensor::DType::int8));
}

const float* DepthwiseConvolution::bias(const Arguments& arguments) const {
  if (!widened_bias_.empty()) return widened_bias_.data();
  return bias_ < 0 ? nullptr : host<const float>(arguments.inputs[static_cast<size_t>(bias_)]);
}

int64_t DepthwiseConvolution::bytes() const { return float_bytes(dtype_); }

int64_t DepthwiseConvolution::out_bytes() const {
  return followers_.take_results_apart() ? int64_t{sizeof(float)} : float_bytes(dtype_);
}

DepthwiseTypes DepthwiseConvolution::types() const {
  if (dtype_ == tensor::DType::float32) return DepthwiseTypes::floats;
  if (dtype_ == tensor::DType::int8) return DepthwiseTypes::signed_to_sums;
  if (dtype_ == tensor::DType::uint8) return DepthwiseTypes::unsigned_to_sums;
  return followers_.take_results_apart() ? DepthwiseTypes::halves_to_floats : DepthwiseTypes::halves;
}

// The span of a whole line, but for its results and the columns of their windows.
DepthwiseSpan DepthwiseConvolution::span_of(const std::byte* image, const Arguments& arguments,
                                            const Line& line) const {
  const int64_t top = line.y * g_.stride_y - g_.pad_top;
  const int64_t before = std::min(top < 0 ? parts_of(-top, g_.dilation_y) : 0, g_.kernel_height);
  const int64_t inside = top < g_.height ? parts_of(g_.height - top, g_.dilation_y) : 0;
  const int64_t channel = line.channels.begin;
  const int64_t first_line = (top + before * g_.dilation_y) * g_.width;
  const float* const given = bias(arguments);
  // A word of weights has the size of one in float32.
  const int64_t weights_line = by_words_ ? code_window_line(g_.out_channels) / 4 : g_.kernel_width * g_.out_channels;
  return {.in = image + (first_line * g_.channels + channel / repeat_) * bytes(),
          .repeat = repeat_,
          .line_step = g_.dilation_y * g_.width * g_.channels,
          .pixel_step = g_.dilation_x * g_.channels,
          .advance = g_.stride_x * g_.channels,
          .weights = host<const float>(weights_.first) + before * weights_line + channel,
          .weights_line = weights_line,
          .weights_pixel = g_.out_channels,
          .lines = static_cast<size_t>(std::max<int64_t>(std::min(g_.kernel_height, inside) - before, 0)),
          .zero = zero(arguments),
          .bias = given == nullptr ? nullptr : given + channel,
          .bounds = followers_.bounds ? followers_.bounds->data() : nullptr,
          .channels = static_cast<size_t>(line.channels.end - channel)};
}

void DepthwiseConvolution::run(const std::byte* image, const Arguments& arguments, const Lines& lines) const {
  int64_t y = lines.y.begin;
  for (; has_squares() && y + 1 < lines.y.end; y += 2) run_pair(image, arguments, {lines.image, y, lines.channels});
  for (; y < lines.y.end; ++y) run_line(image, arguments, {lines.image, y, lines.channels});
}

// True if loops may take two lines at once.
bool DepthwiseConvolution::has_squares() const {
  return repeat_ == 1 && at_once_ == 1 && g_.kernel_height == kSquare && g_.kernel_width == kSquare &&
         g_.stride_y == g_.stride_x && g_.stride_x <= 2 && g_.dilation_y == 1 && g_.dilation_x == 1 &&
         !followers_.take_results_apart();
}

// This line and the next one, together where windows have all their columns.
void DepthwiseConvolution::run_pair(const std::byte* image, const Arguments& arguments, const Line& line) const {
  const int64_t out_line = g_.out_width * g_.out_channels;
  const int64_t element = (line.image * g_.out_height + line.y) * out_line + line.channels.begin;
  std::byte* const out = host<std::byte>(arguments.outputs[0]) + element * bytes();
  const DepthwiseSpan upper = span_of(image, arguments, line);
  const DepthwiseSpan lower = span_of(image, arguments, {line.image, line.y + 1, line.channels});
  const DepthwiseSpan both = squares_of(upper, line.y);
  for (const Stretch& stretch : stretches_) {
    const Lane pixels{stretch.first, stretch.first + stretch.count};
    std::byte* const first = out + stretch.first * g_.out_channels * bytes();
    if (stretch.columns == kSquare && stretch.count > 1) {
      run_span(part_of(both, stretch, pixels, {first, g_.out_channels}));
      continue;
    }
    run_span(part_of(upper, stretch, pixels, {first, g_.out_channels}));
    run_span(part_of(lower, stretch, pixels, {first + out_line * bytes(), g_.out_channels}));
  }
}

DepthwiseSpan DepthwiseConvolution::squares_of(const DepthwiseSpan& upper, int64_t y) const {
  const int64_t top = y * g_.stride_y - g_.pad_top;
  const int64_t above = std::max<int64_t>(-top, 0);
  DepthwiseSpan both = upper;
  both.in = static_cast<const std::byte*>(upper.in) - above * upper.line_step * bytes();
  both.weights -= above * upper.weights_line;
  both.are_squares = true;
  both.first_line = static_cast<size_t>(above);
  both.end_line = static_cast<size_t>(std::max<int64_t>(g_.height - top, 0));
  both.out_line = g_.out_width * g_.out_channels;
  return both;
}

// Runs a line. If results are held apart, as many pixels at a time as there is room for.
void DepthwiseConvolution::run_line(const std::byte* image, const Arguments& arguments, const Line& line) const {
  alignas(64) std::array<float, kMostResults> beside;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  const DepthwiseSpan span = span_of(image, arguments, line);
  const int64_t channel = line.channels.begin;
  const int64_t count = line.channels.end - channel;
  const int64_t first = (line.image * g_.out_height + line.y) * g_.out_width;
  if (makes_codes_) {
    IntegerEpilogue::Run epilogue(*followers_.of_sums, arguments);
    const FinishRows& finish = epilogue.in_tiles(channel, count, g_.out_channels);
    const int64_t element = first * g_.out_channels + channel;
    run_words(span, {0, g_.out_width}, {static_cast<std::byte*>(finish.out) + element, g_.out_channels, &finish});
    return epilogue.end_tiles(element, g_.out_width);
  }
  if (!followers_.take_results_apart()) {
    const int64_t element = first * g_.out_channels + channel;
    std::byte* const out = host<std::byte>(arguments.outputs[0]) + element * bytes();
    return run_pixels(span, {0, g_.out_width}, {out, g_.out_channels});
  }
  const int64_t most = std::max<int64_t>(1, kMostResults / count);
  for (int64_t x = 0; x < g_.out_width; x += most) {
    const Lane pixels = {x, std::min(x + most, g_.out_width)};
    run_pixels(span, pixels, {beside.data(), count});
    finish(beside.data(), {(first + x) * g_.out_channels + channel, channel, count, pixels.end - x}, arguments);
  }
}

void DepthwiseConvolution::finish(float* results, const Held& held, const Arguments& arguments) const {
  if (followers_.of_sums) {
    IntegerEpilogue::Run epilogue(*followers_.of_sums, arguments);
    return epilogue.finish({.sums = reinterpret_cast<int32_t*>(results),
                            .sums_row = held.channels,
                            .rows = held.pixels,
                            .channel = held.channel,
                            .channels = held.channels,
                            .first = held.element,
                            .pitch = g_.out_channels});
  }
  std::byte* const out = host<std::byte>(arguments.outputs[0]) + held.element * bytes();
  followers_.tape.run_rows(
      {results, held.channels}, out, arguments.inputs,
      {.first = held.element, .pitch = g_.out_channels, .rows = held.pixels, .columns = held.channels});
}

void DepthwiseConvolution::run_pixels(const DepthwiseSpan& line, const Lane& pixels, const Target& target) const {
  if (by_words_) return run_words(line, pixels, target);
  for (const Stretch& stretch : stretches_) {
    const int64_t first = std::max(stretch.first, pixels.begin);
    const int64_t last = std::min(stretch.first + stretch.count, pixels.end);
    if (first >= last) continue;
    std::byte* const out = static_cast<std::byte*>(target.first) + (first - pixels.begin) * target.step * out_bytes();
    run_results(part_of(line, stretch, {first, last}, {out, target.step}));
  }
}

// Some pixels of a stretch, with the results at `target`.
DepthwiseSpan DepthwiseConvolution::part_of(const DepthwiseSpan& line, const Stretch& stretch, const Lane& pixels,
                                            const Target& target) const {
  const int64_t before = pixels.begin * line.advance + stretch.column * line.pixel_step;
  const int64_t padded = g_.pad_left * line.advance / g_.stride_x;
  DepthwiseSpan part = line;
  part.in = static_cast<const std::byte*>(line.in) + (before - padded) * bytes();
  part.columns = static_cast<size_t>(stretch.columns);
  if (stretch.columns == 0) part.lines = 0;
  part.out = target.first;
  part.out_step = target.step;
  part.results = static_cast<size_t>(pixels.end - pixels.begin);
  part.weights += stretch.column * g_.out_channels;
  return part;
}

void DepthwiseConvolution::run_words(const DepthwiseSpan& line, const Lane& pixels, const Target& target) const {
  std::array<std::byte, kMostResults> zeros;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  if (zeros_.empty()) std::fill_n(zeros.data(), line.channels, static_cast<std::byte>(static_cast<int>(line.zero)));
  run_code_windows({.in = static_cast<const std::byte*>(line.in),
                    .line_step = line.line_step,
                    .pixel_step = g_.out_channels,
                    .width = g_.width,
                    .left = pixels.begin * g_.stride_x - g_.pad_left,
                    .stride = g_.stride_x,
                    .dilation = g_.dilation_x,
                    .weights = reinterpret_cast<const std::byte*>(line.weights),
                    .weights_line = code_window_line(g_.out_channels),
                    .more_weights = has_weight_zeros_ ? words_bytes() : 0,
                    .lines = line.lines,
                    .columns = static_cast<size_t>(g_.kernel_width),
                    .are_signed = dtype_ == tensor::DType::int8,
                    .zeros = zeros_.empty() ? zeros.data() : zeros_.data(),
                    .finish = target.finish,
                    .out = target.first,
                    .out_step = target.step,
                    .results = static_cast<size_t>(pixels.end - pixels.begin),
                    .channels = line.channels});
}

// The last pixels may be computed twice.
void DepthwiseConvolution::run_results(const DepthwiseSpan& span) const {
  const int64_t channels = g_.out_channels, results = static_cast<int64_t>(span.results);
  const bool are_whole = span.out_step == channels && static_cast<int64_t>(span.channels) == channels;
  if (at_once_ == 1 || results < at_once_ || !are_whole) return run_span(span);
  std::array<float, kMostAtOnce> biases;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  DepthwiseSpan some = span;
  some.weights = host<const float>(repeated_.first) + (span.weights - host<const float>(weights_.first)) * at_once_;
  some.weights_line *= at_once_;
  some.weights_pixel = some.advance = some.out_step = channels_at_once();
  some.channels = static_cast<size_t>(channels_at_once());
  if (span.bias != nullptr) {
    for (int64_t i = 0; i < at_once_; ++i) std::copy_n(span.bias, channels, biases.data() + i * channels);
    some.bias = biases.data();
  }
  some.results = static_cast<size_t>(results / at_once_);
  run_span(some);
  const int64_t last = (results - at_once_) * channels;
  if (results % at_once_ == 0) return;
  some.results = 1;
  some.in = static_cast<const std::byte*>(span.in) + last * bytes();
  some.out = static_cast<std::byte*>(span.out) + last * out_bytes();
  run_span(some);
}

// Runs a span: each set of loops takes as many channels at once as it can.
void DepthwiseConvolution::run_span(const DepthwiseSpan& span) const {
  size_t done = 0;
  for (const DepthwiseKernels* const kernels : depthwise_kernels()) {
    const size_t count = (span.channels - done) / kernels->width * kernels->width;
    if (count == 0) continue;
    DepthwiseSpan part = span.from(static_cast<int64_t>(done), bytes(), out_bytes());
    part.channels = count;
    kernels->run(types(), part);
    done += count;
  }
}

}  // namespace assay::engine::cpu
