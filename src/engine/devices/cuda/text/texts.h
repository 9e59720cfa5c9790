#pragma once

#include <string_view>

// Texts of kernels, in CUDA C++ without headers; embedded from the files of their names.
namespace assay::engine::cuda {

std::string_view machine_text();   // instructions and types, in front of all others
std::string_view elements_text();  // operations on elements
std::string_view rows_text();      // sums and extremes of a block
std::string_view attention_text();
std::string_view attention_tiles_text();
std::string_view depthwise_text();
std::string_view gather_text();
std::string_view gather_elements_text();
std::string_view norm_text();
std::string_view places_text();
std::string_view pool_text();
std::string_view reduction_text();
std::string_view resize_text();
std::string_view softmax_text();
std::string_view tile_work_text();
std::string_view tiles_text();

}  // namespace assay::engine::cuda
