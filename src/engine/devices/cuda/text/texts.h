#pragma once

#include <string_view>

// Texts of kernels, in CUDA C++ without headers; embedded from the files of their names.
namespace assay::engine::cuda {

std::string_view machine_text();   // instructions and types, in front of all others
std::string_view elements_text();  // operations on elements
std::string_view row_sums_text();
std::string_view rows_text();  // sums and extremes of a block
std::string_view attention_text();
std::string_view attention_codes_text();
std::string_view attention_scores_text();
std::string_view attention_step_text();
std::string_view attention_tiles_text();
std::string_view code_range_text();
std::string_view collective_text();
std::string_view compressed_text();
std::string_view compressed_rows_text();
std::string_view cumulative_text();
std::string_view depthwise_text();
std::string_view depthwise_window_text();
std::string_view dynamic_codes_text();
std::string_view exchange_text();
std::string_view few_rows_text();
std::string_view grid_sample_text();
std::string_view group_query_text();
std::string_view indexed_text();
std::string_view norm_text();
std::string_view packets_text();
std::string_view pad_text();
std::string_view places_text();
std::string_view pool_text();
std::string_view ranks_meet_text();
std::string_view recurrent_text();
std::string_view reduced_text();
std::string_view reduction_text();
std::string_view resize_text();
std::string_view roi_align_text();
std::string_view rotary_text();
std::string_view separable_text();
std::string_view softmax_text();
std::string_view spread_text();
std::string_view stream_clusters_text();
std::string_view stream_turns_text();
std::string_view streams_text();
std::string_view tile_pieces_text();
std::string_view tile_places_text();
std::string_view tile_sums_text();
std::string_view tile_work_text();
std::string_view tiles_text();
std::string_view told_parts_text();
std::string_view top_k_text();
std::string_view trees_text();

}  // namespace assay::engine::cuda
