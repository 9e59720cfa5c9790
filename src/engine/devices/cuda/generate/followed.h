#pragma once

#include "engine/devices/cuda/generate/element_site.h"
#include "engine/layers/convolution.h"
#include "engine/layers/layer_part.h"

namespace assay::engine::cuda {

// The bias of a product or convolution: an input of the layer, as it is broadcast to the result.
struct Bias {
  int input = -1;  // -1: none
  TensorDesc desc = {};
};

// The site of all that follows a product in its layer: its bias, and the nodes from `done` on. Its text is given the
// product as `plain`. Nullopt: a node has no text.
std::optional<ElementSite> followed_site(const Layer& layer, size_t done, const Bias& bias);

// The site of a product of integers: it is multiplied by factors, and the bias is added.
std::optional<ElementSite> scaled_followed_site(const Layer& layer, size_t done, const ElementOperand& factors,
                                                const ElementOperand& bias);
// One factor for all columns, and no bias.
std::optional<ElementSite> scaled_followed_site(const Layer& layer, size_t done, float factor);
// The site of elementwise nodes alone, in a part of a layer, that are given two products: these two of its inputs. The
// kernel has its inputs from number `begin` on. Nullopt: a node has no text.
std::optional<ElementSite> gated_site(const LayerPart& part, int first, int second, size_t begin);
// The bias of a convolution.
Bias channel_bias(const Layer& layer, const ConvolutionForm& form);

// `finish(p, first, given)`, which computes and writes the results from `first` on, as many as the site moves at once,
// of products `Pack<PLAIN, kTaken>`; and its two halves, `operands_of(p, first)` and `finish(p, given, operands)`. Adds
// what it needs to the launch. `plain`: the type of a product.
std::string finish_text(ElementSite site, Launch& launch, std::string_view plain = "float");
// `operands_of(p, first)` and `finish(p, given, operands)`, which is given both products of one result.
std::string gated_finish_text(ElementSite site, Launch& launch);
// `operands_of(p, row, column)` and `finish(p, given, operands)`, for results in so many columns.
std::string row_finish_text(ElementSite site, Launch& launch, int64_t columns);
// `fetch(p, row, column, slots)`, which brings operands into slots, kSlotStride bytes from one to the next, with copies
// that are done after wait_copies(); `operands_of(p, row, column)` reads the others, `finish(p, row, column, given,
// operands, slots)` takes all.
std::string slotted_finish_text(ElementSite site, Launch& launch, int64_t columns);
// For sites that can pair and need no slots: `operands_of(p, row, column)` and `finished(p, given, operands)` make two
// results of those of two neighbours, `write(p, row, column, results)` writes a pack.
std::string paired_finish_text(ElementSite site, Launch& launch, int64_t columns);
// For sites with packs of more than one: `apart::operands_of(p, row, column)` and `apart::finished(p, given,
// operands)`, which makes a pack of results and writes none.
std::string apart_text(ElementSite site, Launch& launch, int64_t columns);

// True if the elements of a result lie in the order of pictures with channels last, perhaps with gaps.
bool has_channels_last_order(const TensorDesc& out);
// A vector of channels as an operand of a result whose second dim they are.
TensorDesc along_channels(const TensorDesc& vector, const TensorDesc& out);

}  // namespace assay::engine::cuda
