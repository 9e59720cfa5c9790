#include "engine/devices/cpu/onednn/operation.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "engine/devices/cpu/processor.h"
#include "engine/layers/tensor_desc.h"

namespace assay::engine::cpu::onednn {
namespace {

Desc own(const Library& library, MemoryDesc* desc) {
  return {desc, [&library](MemoryDesc* made) { library.api().dnnl_memory_desc_destroy(made); }};
}

int type_of(tensor::DType dtype) {
  if (dtype == tensor::DType::bfloat16) return kBfloat16;
  if (dtype == tensor::DType::int8) return kInt8;
  if (dtype == tensor::DType::uint8) return kUint8;
  return dtype == tensor::DType::int32 ? kInt32 : kFloat32;
}

// Calls fn(argument, data type, numbers) for every list of a scaling that is not empty.
template <typename Fn>
void for_lists(const Scaling& scaling, Fn&& fn) {
  const auto call = [&](int argument, tensor::DType dtype, const auto& numbers) {
    if (!numbers.empty()) fn(argument, dtype, static_cast<int64_t>(numbers.size()), numbers.data());
  };
  call(kScales | kSource, tensor::DType::float32, scaling.source);
  call(kScales | kWeights, tensor::DType::float32, scaling.weights);
  call(kScales | kTarget, tensor::DType::float32, scaling.target);
  call(kZeroPoints | kSource, tensor::DType::int32, scaling.source_zero);
  call(kZeroPoints | kTarget, tensor::DType::int32, scaling.target_zero);
}

class AttributesWith {
 public:
  // `channels`: the mask of the dims that scales of weights go along.
  AttributesWith(const Library& library, std::span<const Appended> appended, const Scaling* scaling, int channels)
      : api_(library.api()) {
    library.check(api_.dnnl_primitive_attr_create(&attributes_), "attributes");
    api_.dnnl_primitive_attr_set_scratchpad_mode(attributes_, kUserScratchpad);
    if (scaling != nullptr) scale(*scaling, channels);
    append(appended);
  }
  ~AttributesWith() { api_.dnnl_primitive_attr_destroy(attributes_); }
  AttributesWith(const AttributesWith&) = delete;
  AttributesWith& operator=(const AttributesWith&) = delete;
  const Attributes* get() const { return attributes_; }

 private:
  void scale(const Scaling& scaling, int channels) {
    for_lists(scaling, [&](int argument, tensor::DType, int64_t count, const void*) {
      if ((argument & kZeroPoints) != 0)
        api_.dnnl_primitive_attr_set_zero_points_mask(attributes_, argument - kZeroPoints, 0);
      else
        api_.dnnl_primitive_attr_set_scales_mask(attributes_, argument - kScales, count > 1 ? channels : 0);
    });
  }

  void append(std::span<const Appended> appended) {
    if (appended.empty()) return;
    PostOps* post_ops = nullptr;
    api_.dnnl_post_ops_create(&post_ops);
    for (const auto& [added, eltwise] : appended) {
      if (added)
        api_.dnnl_post_ops_append_binary(post_ops, kBinaryAdd, added.get());
      else
        api_.dnnl_post_ops_append_eltwise(post_ops, eltwise.algorithm, eltwise.alpha, eltwise.beta);
    }
    api_.dnnl_primitive_attr_set_post_ops(attributes_, post_ops);
    api_.dnnl_post_ops_destroy(post_ops);
  }

  const Api& api_;
  Attributes* attributes_ = nullptr;
};

}  // namespace

Scaling Scaling::of(const Lane& channels) const {
  Scaling part = *this;
  if (weights.size() > 1) part.weights.assign(weights.begin() + channels.begin, weights.begin() + channels.end);
  return part;
}

Desc strided_desc(const Library& library, tensor::DType dtype, const tensor::Shape& dims,
                  const tensor::Shape& strides) {
  MemoryDesc* made = nullptr;
  library.check(library.api().dnnl_memory_desc_create_with_strides(&made, static_cast<int>(dims.size()), dims.data(),
                                                                   type_of(dtype), strides.data()),
                "a tensor");
  return own(library, made);
}

Desc any_desc(const Library& library, tensor::DType dtype, const tensor::Shape& dims) {
  MemoryDesc* made = nullptr;
  library.check(library.api().dnnl_memory_desc_create_with_tag(&made, static_cast<int>(dims.size()), dims.data(),
                                                               type_of(dtype), kAnyTag),
                "a tensor");
  return own(library, made);
}

Desc plain_desc(const Library& library, tensor::DType dtype, const tensor::Shape& dims) {
  return strided_desc(library, dtype, dims, make_desc(dtype, dims).strides);
}

namespace {

using OwnedDesc = std::unique_ptr<PrimitiveDesc, Status (*)(PrimitiveDesc*)>;

OwnedDesc own(const Library& library, PrimitiveDesc* desc) { return {desc, library.api().dnnl_primitive_desc_destroy}; }

OwnedDesc describe(const Library& library, const Operation::Convolution& convolution) {
  const AttributesWith attributes(library, convolution.appended, convolution.scaling, convolution.is_grouped ? 3 : 1);
  PrimitiveDesc* made = nullptr;
  const Api& api = library.api();
  const bool is_transposed = convolution.is_transposed;
  const auto create = is_transposed ? api.dnnl_deconvolution_forward_primitive_desc_create
                                    : api.dnnl_convolution_forward_primitive_desc_create;
  const Status status =
      create(&made, library.engine(), kForwardInference, is_transposed ? kDeconvolutionDirect : kConvolutionDirect,
             convolution.source.get(), convolution.weights.get(), convolution.bias.get(), convolution.target.get(),
             convolution.strides.data(), convolution.dilations.data(), convolution.padding_before.data(),
             convolution.padding_after.data(), attributes.get());
  return own(library, status == kSuccess ? made : nullptr);
}

OwnedDesc describe(const Library& library, const Operation::Product& product) {
  const AttributesWith attributes(library, product.appended, product.scaling, 2);
  PrimitiveDesc* made = nullptr;
  const Status status = library.api().dnnl_matmul_primitive_desc_create(&made, library.engine(), product.source.get(),
                                                                        product.weights.get(), product.bias.get(),
                                                                        product.target.get(), attributes.get());
  return own(library, status == kSuccess ? made : nullptr);
}

std::string implementation_of(const Library& library, const PrimitiveDesc* desc) {
  const char* name = nullptr;
  library.api().dnnl_primitive_desc_query(desc, kQueryImplementation, 0, static_cast<void*>(&name));
  return name == nullptr ? "" : name;
}

// True if the implementation adds up two products of codes in 16 bits, which saturate, though the processor has better
// instructions: there are_sums_exact() allows weights of any size.
bool may_saturate(std::string_view implementation) {
  const auto is_for = [&](std::string_view instructions) { return implementation.ends_with(instructions); };
  return has_avx512_vnni() && (is_for(":avx512_core") || is_for(":avx2") || is_for(":sse41"));
}

// Transposed convolutions with strides, which version 3.2 computes wrongly where there are 256 channels and more, and
// convolutions of codes for AVX2-VNNI, which add a residual of 15 channels wrongly.
bool may_be_wrong(std::string_view implementation) {
  return implementation == "brg_conv:avx512_core+brgconv_strided:avx512_core" ||
         implementation.starts_with("jit_uni_int8:avx2_vnni");
}

bool is_left_out(std::string_view implementation, bool sums_codes) {
  const bool is_slow = implementation.starts_with("ref") || implementation.starts_with("gemm:ref");
  return is_slow || may_be_wrong(implementation) || (sums_codes && may_saturate(implementation));
}

// Moves to the implementation of that name, or to the first; false: there is none.
bool seek(const Library& library, PrimitiveDesc* desc, std::string_view name, bool sums_codes) {
  for (;;) {
    const std::string found = implementation_of(library, desc);
    if ((name.empty() || found == name) && !is_left_out(found, sums_codes)) return true;
    if (library.api().dnnl_primitive_desc_next_impl(desc) != kSuccess) return false;
  }
}

template <typename Wanted>
std::vector<std::string> list_implementations(const Library& library, const Wanted& wanted) {
  const OneThread one(library);
  const OwnedDesc desc = describe(library, wanted);
  std::vector<std::string> names;
  if (!desc) return names;
  do {
    std::string name = implementation_of(library, desc.get());
    const bool is_new = std::ranges::find(names, name) == names.end();
    if (is_new && !is_left_out(name, wanted.sums_codes)) names.push_back(std::move(name));
  } while (library.api().dnnl_primitive_desc_next_impl(desc.get()) == kSuccess);
  return names;
}

}  // namespace

std::shared_ptr<const Operation> Operation::make(const Library& library, const Convolution& convolution,
                                                 std::string_view implementation) {
  const OneThread one(library);
  const OwnedDesc desc = describe(library, convolution);
  if (!desc || !seek(library, desc.get(), implementation, convolution.sums_codes)) return nullptr;
  return std::shared_ptr<const Operation>(new Operation(
      library, desc.get(), {{kSource, convolution.source}, {kTarget, convolution.target}, {kBias, convolution.bias}},
      convolution.appended, convolution.scaling));
}

std::shared_ptr<const Operation> Operation::make(const Library& library, const Product& product,
                                                 std::string_view implementation) {
  const OneThread one(library);
  const OwnedDesc desc = describe(library, product);
  if (!desc || !seek(library, desc.get(), implementation, product.sums_codes)) return nullptr;
  return std::shared_ptr<const Operation>(
      new Operation(library, desc.get(), {{kSource, product.source}, {kTarget, product.target}, {kBias, product.bias}},
                    product.appended, product.scaling));
}

std::vector<std::string> Operation::implementations(const Library& library, const Convolution& convolution) {
  return list_implementations(library, convolution);
}

std::vector<std::string> Operation::implementations(const Library& library, const Product& product) {
  return list_implementations(library, product);
}

Operation::Operation(const Library& library, PrimitiveDesc* desc, std::vector<std::pair<int, Desc>> arguments,
                     std::span<const Appended> appended, const Scaling* scaling)
    : library_(library) {
  const Api& api = library.api();
  implementation_ = implementation_of(library, desc);
  for (auto& [index, argument] : arguments) {
    if (argument) arguments_.emplace_back(index, std::move(argument));
  }
  for (size_t i = 0; i < appended.size(); ++i) {
    if (appended[i].added) arguments_.emplace_back(operand_of_appended(static_cast<int>(i)), appended[i].added);
  }
  if (scaling != nullptr) {
    for_lists(*scaling, [&](int argument, tensor::DType dtype, int64_t count, const void*) {
      arguments_.emplace_back(argument, plain_desc(library, dtype, {count}));
    });
  }
  const auto query = [&](int what) {
    MemoryDesc* copy = nullptr;
    library.check(api.dnnl_memory_desc_clone(&copy, api.dnnl_primitive_desc_query_md(desc, what, 0)), "a tensor");
    return own(library, copy);
  };
  weights_ = query(kQueryWeights);
  arguments_.emplace_back(kWeights, weights_);
  arguments_.emplace_back(kScratchpad, query(kQueryScratchpad));
  Primitive* made = nullptr;
  library.check(api.dnnl_primitive_create(&made, desc), implementation_);
  primitive_ = {made, [&library](Primitive* primitive) { library.api().dnnl_primitive_destroy(primitive); }};
}

uint64_t Operation::scratchpad_bytes() const {
  return library_.api().dnnl_memory_desc_get_size(arguments_.back().second.get());
}

Running::Running(const Operation& operation) : operation_(operation) {
  const Library& library = operation.library_;
  for (const auto& [index, desc] : operation.arguments_) {
    Memory* made = nullptr;
    library.check(library.api().dnnl_memory_create(&made, desc.get(), library.engine(), nullptr), "memory");
    owned_.emplace_back(made, [&library](Memory* memory) { library.api().dnnl_memory_destroy(memory); });
    arguments_.push_back({index, made});
  }
}

void Running::set(int argument, const void* bytes) {
  for (const Argument& known : arguments_) {
    if (known.index == argument) {
      operation_.library_.api().dnnl_memory_set_data_handle(known.memory, const_cast<void*>(bytes));
    }
  }
}

void Running::set(const Scaling& scaling) {
  for_lists(scaling, [&](int argument, tensor::DType, int64_t, const void* numbers) { set(argument, numbers); });
}

void Running::execute() {
  const Library& library = operation_.library_;
  library.check(library.api().dnnl_primitive_execute(operation_.primitive_.get(), library.stream(),
                                                     static_cast<int>(arguments_.size()), arguments_.data()),
                operation_.implementation_);
}

namespace {

// The name of a form, spelled so that equal names are equal forms.
std::string form_name(const Library& library, const Desc& to) {
  const auto query = [&](int what, void* result) {
    library.check(library.api().dnnl_memory_desc_query(to.get(), what, result), "a description of weights");
  };
  int rank = 0;
  int type = 0;
  int blocks = 0;
  int64_t* dims = nullptr;
  int64_t* strides = nullptr;
  int64_t* block_sizes = nullptr;
  int64_t* block_dims = nullptr;
  query(kQueryRank, &rank);
  query(kQueryType, &type);
  query(kQueryPaddedDims, static_cast<void*>(&dims));
  query(kQueryStrides, static_cast<void*>(&strides));
  query(kQueryBlockCount, &blocks);
  query(kQueryBlockSizes, static_cast<void*>(&block_sizes));
  query(kQueryBlockDims, static_cast<void*>(&block_dims));
  return fmt::format("onednn {} [{}]/{} {}/{}", type, fmt::join(dims, dims + rank, ","),
                     fmt::join(strides, strides + rank, ","), fmt::join(block_sizes, block_sizes + blocks, ","),
                     fmt::join(block_dims, block_dims + blocks, ","));
}

tensor::Shape dims_of(const Library& library, const Desc& desc) {
  int rank = 0;
  int64_t* dims = nullptr;
  library.check(library.api().dnnl_memory_desc_query(desc.get(), kQueryRank, &rank), "a description of weights");
  library.check(library.api().dnnl_memory_desc_query(desc.get(), kQueryDims, static_cast<void*>(&dims)),
                "a description of weights");
  return {dims, dims + rank};
}

// False: the library cannot.
bool try_reorder(const Library& library, const Desc& from, const void* bytes, const Desc& to, std::byte* packed) {
  const Api& api = library.api();
  const OneThread one(library);
  PrimitiveDesc* desc = nullptr;
  if (api.dnnl_reorder_primitive_desc_create(&desc, from.get(), library.engine(), to.get(), library.engine(),
                                             nullptr) != kSuccess) {
    return false;
  }
  const std::unique_ptr<PrimitiveDesc, Status (*)(PrimitiveDesc*)> owned(desc, api.dnnl_primitive_desc_destroy);
  Primitive* primitive = nullptr;
  library.check(api.dnnl_primitive_create(&primitive, desc), "weights");
  const std::unique_ptr<Primitive, Status (*)(Primitive*)> owned_primitive(primitive, api.dnnl_primitive_destroy);
  Memory* source = nullptr;
  Memory* target = nullptr;
  library.check(api.dnnl_memory_create(&source, from.get(), library.engine(), const_cast<void*>(bytes)), "memory");
  const std::unique_ptr<Memory, Status (*)(Memory*)> owned_source(source, api.dnnl_memory_destroy);
  library.check(api.dnnl_memory_create(&target, to.get(), library.engine(), packed), "memory");
  const std::unique_ptr<Memory, Status (*)(Memory*)> owned_target(target, api.dnnl_memory_destroy);
  const Argument arguments[] = {{kSource, source}, {kTarget, target}};
  library.check(api.dnnl_primitive_execute(primitive, library.stream(), 2, arguments), "weights");
  return true;
}

// From a part of something larger, perhaps by way of a tensor of its own.
void reorder(const Library& library, const WeightsPart& from, const Desc& to, std::byte* packed) {
  const std::byte* const bytes = from.tensor.bytes().data() + from.first;
  if (try_reorder(library, from.desc, bytes, to, packed)) return;
  const Desc plain = plain_desc(library, from.tensor.dtype(), dims_of(library, from.desc));
  std::vector<std::byte> copy(library.api().dnnl_memory_desc_get_size(plain.get()));
  const bool is_done = try_reorder(library, from.desc, bytes, plain, copy.data()) &&
                       try_reorder(library, plain, copy.data(), to, packed);
  if (!is_done) fail(ErrorCode::backend, "oneDNN cannot pack weights");
}

}  // namespace

Buffer pack(const Library& library, PackedWeights& packed, const WeightsPart& from, const Desc& to) {
  return packed.get(from.tensor, fmt::format("{} from {}", form_name(library, to), from.first),
                    library.api().dnnl_memory_desc_get_size(to.get()),
                    [&](std::byte* bytes) { reorder(library, from, to, bytes); });
}

Buffer pack(const Library& library, PackedWeights& packed, const MadeWeights& from, const Desc& to) {
  return packed.get(from.tensor, fmt::format("{} of {}", form_name(library, to), from.name),
                    library.api().dnnl_memory_desc_get_size(to.get()), [&](std::byte* bytes) {
                      if (try_reorder(library, from.desc, from.make().data(), to, bytes)) return;
                      fail(ErrorCode::backend, "oneDNN cannot pack weights");
                    });
}

}  // namespace assay::engine::cpu::onednn
