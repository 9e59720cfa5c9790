// Products by cuBLASLt, where a build measures tactics or one is named. Each is compared with the engine's own once,
// and stands aside where addresses do not suit the library.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>

#include "base/error.h"
#include "engine/devices/cuda/cublaslt/matrix_product.h"
#include "engine/devices/cuda/launched_call.h"
#include "engine/devices/cuda/queue.h"
#include "engine/devices/cuda/tiles/float_products.h"
#include "engine/layers/followers.h"
#include "engine/layers/form.h"
#include "tensor/ordinary_numbers.h"

namespace assay::engine::cuda {
namespace {

using cublaslt::MatrixProduct;
using cublaslt::Problem;

// Inputs of the layer that are added to its product; -1: none.
struct Added {
  int bias = -1, matrix = -1;
  bool is_relu = false;
};

// Nullopt: more follows than the library does.
std::optional<Added> added_to(const Layer& layer, int64_t columns) {
  const auto* const product = form_as<ProductForm>(layer);
  const auto* const windows = form_as<ConvolutionForm>(layer);
  Added added;
  size_t done = 0;
  if (product != nullptr) {
    const std::optional<ProductGeometry> g = product_geometry(layer, product->node);
    if (!g || (g->bias >= 0 && !has_bias_row(layer, *g))) return std::nullopt;
    added.bias = g->bias;
    done = product->done;
  } else {
    added.bias = windows->bias;
    done = windows->done;
  }
  std::optional<Chain> chain = find_chain(layer, done, layer.result(layer.nodes[done - 1], 0));
  if (!chain) return std::nullopt;
  if (product != nullptr && added.bias < 0) added.bias = take_added_row(layer, columns, *chain);
  added.matrix = take_added(layer, *chain);
  if (const auto bounds = take_bounds(*chain)) {
    added.is_relu = (*bounds)[0] == 0 && std::isinf((*bounds)[1]);
    if (!added.is_relu) return std::nullopt;
  }
  return chain->steps.empty() ? std::optional(added) : std::nullopt;
}

// Nullopt: its elements do not lie as the library wants them.
std::optional<cublaslt::Matrix> matrix_of(const TileOperand& operand, size_t dims, int64_t rows, int64_t items) {
  if (dims > 1 || (operand.depth != 1 && operand.along != 1)) return std::nullopt;
  const bool is_turned = operand.depth != 1;
  cublaslt::Matrix made{.is_turned = is_turned,
                        .row = is_turned ? operand.depth : operand.along,
                        .item = dims == 0 || items == 1 ? 0 : operand.items[0]};
  return made.row >= (is_turned ? rows : 1) && made.item >= 0 ? std::optional(made) : std::nullopt;
}

std::optional<Problem> problem_of(const Layer& layer, const TileProduct& product, const Added& added) {
  constexpr int64_t kLeast = 16;
  const TensorDesc& out = layer.outputs[0];
  const bool is_known = !product.windows && !product.spread && !product.codes && product.type == out.dtype &&
                        (product.type != tensor::DType::float32 || layer.permits_tf32);
  const bool is_large = product.rows >= kLeast && product.columns >= kLeast && product.depth >= kLeast;
  if (!is_known || !is_large || !is_dense(out) || std::ranges::any_of(layer.inputs, [](const TensorDesc& desc) {
        return std::ranges::any_of(desc.strides, [](int64_t stride) { return stride < 0; });
      })) {
    return std::nullopt;
  }
  const int64_t items = product.item_count();
  const auto left = matrix_of(product.left, product.items.size(), product.rows, items);
  const auto right = matrix_of(product.right, product.items.size(), product.columns, items);
  const int64_t pack = 128 / tensor::bit_width(product.type);
  const auto is_even = [&](int64_t elements) { return elements % pack == 0; };
  if (!left || !right || !is_even(left->row) || !is_even(right->row) || !is_even(left->item) || !is_even(right->item) ||
      !is_even(product.columns)) {
    return std::nullopt;
  }
  return Problem{.type = product.type,
                 .rows = product.rows,
                 .columns = product.columns,
                 .depth = product.depth,
                 .items = items,
                 .left = *left,
                 .right = *right,
                 .has_bias = added.bias >= 0,
                 .has_added = added.matrix >= 0,
                 .is_relu = added.is_relu};
}

Launches library_launches(std::shared_ptr<const MatrixProduct> library, const TileProduct& product,
                          const Added& added) {
  const auto input_or_left = [&](int input) {
    return input < 0 ? product.left.pointer : input_pointer(static_cast<size_t>(input));
  };
  Launches launches;
  launches.constants = product.constants;
  launches.workspace_bytes = library->workspace_bytes();
  Launch& launch = launches.all.emplace_back();
  launch.pointers = {product.left.pointer,        product.right.pointer,     output_pointer(0),
                     input_or_left(added.matrix), input_or_left(added.bias), workspace_pointer()};
  launch.foreign = std::move(library);
  return launches;
}

// The library's call, and the engine's own for addresses that are no multiples of 16.
class LibraryCall final : public Call {
 public:
  LibraryCall(std::shared_ptr<const Launches> launches, std::unique_ptr<Call> own, const Arguments& arguments)
      : library_(std::move(launches), arguments), own_(std::move(own)), is_even_(are_even(arguments)) {}
  void run(Queue& queue) override { is_even_ ? library_.run(queue) : own_->run(queue); }
  void rebind(const Arguments& arguments) override {
    library_.rebind(arguments);
    own_->rebind(arguments);
    is_even_ = are_even(arguments);
  }

 private:
  static bool are_even(const Arguments& arguments) {
    const auto is_even = [](Address address) { return address.value % MatrixProduct::kAlignment == 0; };
    return std::ranges::all_of(arguments.inputs, is_even) && std::ranges::all_of(arguments.outputs, is_even);
  }

  LaunchedCall library_;
  std::unique_ptr<Call> own_;
  bool is_even_;
};

class LibraryKernel final : public Kernel {
 public:
  LibraryKernel(Launches launches, std::unique_ptr<Kernel> own)
      : launches_(std::make_shared<const Launches>(std::move(launches))), own_(std::move(own)) {}
  uint64_t workspace_bytes() const override { return std::max(launches_->workspace_bytes, own_->workspace_bytes()); }
  std::unique_ptr<Call> bind(const Arguments& arguments) const override {
    return std::make_unique<LibraryCall>(launches_, own_->bind(arguments), arguments);
  }

 private:
  std::shared_ptr<const Launches> launches_;
  std::unique_ptr<Kernel> own_;
};

// Memory of the card with ordinary numbers.
class Numbers {
 public:
  Numbers(const Card& card, tensor::DType type)
      : card_(card), bytes_(tensor::bit_width(type) / 8), pattern_(tensor::ordinary_numbers(type, {kCount})) {}
  Buffer get(uint64_t elements) const {
    const Buffer made = card_.allocate(elements * bytes_);
    const uint64_t first = std::min<uint64_t>(made.bytes, pattern_.size_bytes());
    const Api& api = card_.api();
    card_.driver().check(api.upload(made.first.value, pattern_.bytes().data(), first, nullptr), "a filling");
    for (uint64_t done = first; done < made.bytes;) {
      const uint64_t more = std::min(done, made.bytes - done);
      card_.driver().check(api.copy(made.first.value + done, made.first.value, more, nullptr), "a filling");
      done += more;
    }
    card_.driver().check(api.stream_wait(nullptr), "a filling");
    return made;
  }

 private:
  static constexpr int64_t kCount = 262139;  // a prime number, so that rows differ
  const Card& card_;
  uint64_t bytes_;
  tensor::Tensor pattern_;
};

// Elements from the first to the last one, gaps included; at least one.
uint64_t extent(const TensorDesc& desc) {
  int64_t last = 0;
  for (size_t i = 0; i < desc.dims.size(); ++i) last += std::max<int64_t>(desc.dims[i] - 1, 0) * desc.strides[i];
  return static_cast<uint64_t>(last + 1);
}

std::vector<double> numbers_of(std::vector<std::byte> bytes, tensor::DType type) {
  const auto count = static_cast<int64_t>(bytes.size() * 8 / tensor::bit_width(type));
  return tensor::load_elements<double>(tensor::Tensor(type, {count}, tensor::make_owned(std::move(bytes))));
}

// True if these are the same but for the order of sums.
bool are_alike(const std::vector<double>& own, const std::vector<double>& other) {
  double squares = 0;
  for (const double number : own) squares += number * number;
  const double part = 0.01 * std::sqrt(squares / static_cast<double>(own.size()));
  return std::ranges::equal(own, other,
                            [&](double a, double b) { return std::abs(a - b) <= part + std::abs(a) / 128; });
}

template <typename Kind>
class LibraryProducts final : public Kind {
 public:
  using Kind::Kind;

  std::string_view name() const override { return "product.cublaslt"; }
  bool yields(const Layer&) const override { return true; }
  std::vector<std::string> variants(const Layer&) const override { return {"", "1", "2"}; }

  std::string missing() const override {
    std::string reason;
    cublaslt::Library::find({}, reason);
    return reason;
  }

  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view variant) const override {
    auto made = attempt([&] { return make_checked(layer, variant); });
    if (auto* const kernel = std::get_if<std::unique_ptr<Kernel>>(&made)) return std::move(*kernel);
    // A library that refuses, or a card without the memory to compare, is no reason to end a build.
    const Error& error = std::get<Error>(made);
    if (error.code() != ErrorCode::backend && error.code() != ErrorCode::limit) throw error;
    return nullptr;
  }

 private:
  std::unique_ptr<Kernel> make_checked(const Layer& layer, std::string_view variant) const {
    auto found = this->find(layer, false);
    const std::optional<Added> added = found ? added_to(layer, found->product.columns) : std::nullopt;
    const std::optional<Problem> problem = added ? problem_of(layer, found->product, *added) : std::nullopt;
    const size_t choice = variant.empty() ? 0 : static_cast<size_t>(variant[0] - '0');
    if (!problem || variant.size() > 1 || choice > 2 || !open()) return {};
    const std::shared_ptr<const MatrixProduct> library = MatrixProduct::make(*library_, handle_, *problem, choice);
    std::unique_ptr<Kernel> own = library ? Kind::make(layer, "") : nullptr;
    if (!own || !is_right(layer, *problem, choice, *added, library, *found)) return {};
    found = this->find(layer, true);
    return std::make_unique<LibraryKernel>(library_launches(library, found->product, *added), std::move(own));
  }

  // False: there is no such library.
  bool open() const {
    const std::scoped_lock lock(mutex_);
    if (handle_) return true;
    std::string reason;
    library_ = cublaslt::Library::find({}, reason);
    if (library_ == nullptr) return false;
    const auto card = this->programs().card().shared_from_this();
    card->enter();
    cublaslt::Handle made = nullptr;
    library_->check(library_->api().create(&made), "its initialisation");
    handle_ = {made, [card, library = library_](cublaslt::Handle handle) {
                 card->api().context_set(card->context());
                 library->api().destroy(handle);
               }};
    return true;
  }

  // Compares the library's product with the engine's own, once for each problem.
  bool is_right(const Layer& layer, const Problem& problem, size_t choice, const Added& added,
                const std::shared_ptr<const MatrixProduct>& library, typename Kind::Found found) const {
    const std::string key = fmt::format("{} {}", choice, layer_key(layer));
    const std::scoped_lock lock(mutex_);
    if (right_.contains(key)) return true;
    const Card& card = this->programs().card();
    const Numbers numbers(card, problem.type);
    std::vector<Buffer> held;
    Arguments arguments;
    for (const TensorDesc& desc : layer.inputs) {
      held.push_back(numbers.get(extent(desc)));
      arguments.inputs.push_back(held.back().first);
    }
    if (found.product.right.pointer.kind == Pointer::Kind::fixed) {
      held.push_back(numbers.get(static_cast<uint64_t>(problem.columns * problem.right.row)));
      found.product.right.pointer = fixed_pointer(held.back().first);
    }
    const std::vector<TileShape> shapes = tile_shapes(found.product, permitted(layer, found.product), card);
    const Launches of_library = library_launches(library, found.product, added);
    const std::optional<Launches> own =
        tile_launches(this->programs(), found.product, shapes.front(), std::move(found.site));
    if (!own || !are_alike(result_of(*own, arguments, layer), result_of(of_library, arguments, layer))) return false;
    right_.insert(key);
    return true;
  }

  std::vector<double> result_of(const Launches& launches, Arguments arguments, const Layer& layer) const {
    const Card& card = this->programs().card();
    const Buffer out = card.allocate(layer.outputs[0].size_bytes());
    const Buffer workspace = card.allocate(launches.workspace_bytes);
    arguments.outputs = {out.first};
    arguments.workspace = workspace.first;
    LaunchedCall call(std::make_shared<const Launches>(launches), arguments);
    const std::unique_ptr<LaunchQueue> queue = make_queue(card.shared_from_this());
    call.run(*queue);
    std::vector<std::byte> result(out.bytes);
    queue->download(out.first, result);
    queue->wait();
    return numbers_of(std::move(result), layer.outputs[0].dtype);
  }

  mutable std::mutex mutex_;
  mutable const cublaslt::Library* library_ = nullptr;
  mutable std::shared_ptr<cublaslt::HandleOpaque> handle_;
  mutable std::set<std::string> right_;  // problems that were compared
};

}  // namespace

KernelFamily cuda_kernel_library_products() { return family_of<LibraryProducts<Windows>, LibraryProducts<Matrices>>(); }

}  // namespace assay::engine::cuda
