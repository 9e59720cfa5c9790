// Movement, orders and places of pictures on a card whose kernels the host runs.
#include <gtest/gtest.h>

#include "simt/layer_check.h"

namespace assay::engine::cuda {
namespace {

using testing_support::OnCard;
using testing_support::sine;

void check(const std::string& text, const std::vector<std::string>& tactics, double tolerance = 1e-5,
           const std::function<double(size_t)>& number = sine) {
  EXPECT_EQ(testing_support::layers_fault(text, tactics, tolerance, number), "");
}

// Whole numbers that come again.
double step_of_seven(size_t i) { return static_cast<double>(i * 5 % 7); }

TEST(CardMovement, RowsThatIndicesName) {
  for (const char* const type : {"float16", "int64"}) {
    const auto text = [&](const std::string& form) {
      std::string made = form;
      for (size_t at = made.find('T'); at != std::string::npos; at = made.find('T')) made.replace(at, 1, type);
      return made;
    };
    check(text("g (T[5,8] x) => (T[2,2,8] z) <int64[2,2] i = {0,-1,4,2}> { z = Gather(x, i) }"), {"movement.gather"},
          0);
    check(text("g (T[3,5] x) => (T[3,2] z) <int32[2] i = {-2,1}> { z = Gather<axis = 1>(x, i) }"), {"movement.gather"},
          0);
    check(text("g (T[3,4] x) => (T[2,4] z) <int64[2,4] i = {0,1,2,-1,0,0,2,1}> { z = GatherElements(x, i) }"),
          {"movement.gather_elements"}, 0);
    check(text("g (T[3,4,6] x) => (T[2,6] z) <int64[2,2] i = {0,1,2,-1}> { z = GatherND(x, i) }"),
          {"movement.gather_places"}, 0);
    check(text("g (T[4,6] x, T[3,6] u) => (T[4,6] z) <int64[3,1] i = {2,-1,2}> { z = ScatterND(x, i, u) }"),
          {"movement.scatter_places"}, 0);
    check(text("g (T[3,3] x, T[2,3] u) => (T[3,3] z) <int64[2,3] i = {1,0,2,1,2,-1}> { "
               "z = ScatterElements<axis = 0>(x, i, u) }"),
          {"movement.scatter_elements"}, 0);
  }
}

TEST(CardMovement, UpdatesOfOnePlaceAreCombinedInOrder) {
  for (const char* const reduction : {"add", "mul", "max", "min"}) {
    for (const std::string_view type : {"float", "int64"}) {
      const bool is_whole = type == "int64";
      const double tolerance = is_whole ? 0 : 1e-6;
      const std::function<double(size_t)> number = is_whole ? step_of_seven : sine;
      check(fmt::format("g ({0}[4,3] x, {0}[5,3] u) => ({0}[4,3] z) <int64[5,1] i = {{2,0,2,3,2}}> {{ "
                        "z = ScatterND<reduction = \"{1}\">(x, i, u) }}",
                        type, reduction),
            {"movement.scatter_places"}, tolerance, number);
      check(fmt::format("g ({0}[3,4] x, {0}[3,4] u) => ({0}[3,4] z) <int64[3,4] i = "
                        "{{1,1,1,0,3,2,3,2,0,0,0,0}}> {{ z = ScatterElements<axis = 1, reduction = "
                        "\"{1}\">(x, i, u) }}",
                        type, reduction),
            {"movement.scatter_elements"}, tolerance, number);
    }
  }
}

TEST(CardMovement, AnUpdateOutOfRangeEndsTheRun) {
  const OnCard model(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (int64[2,1] i, float[4,3] x, float[2,3] u) => (float[4,3] z) { "
      "z = ScatterND(x, i, u) }");
  engine::Context context(model.program(), {}, false);
  EXPECT_THROW(model.run(context, [](size_t i) { return i == 1 ? 4.0 : 1.0; }), Error);
  EXPECT_THROW(model.run(context, [](size_t i) { return i == 1 ? -5.0 : 1.0; }), Error);
  const auto fits = [](size_t i) { return i == 1 ? -4.0 : i == 0 ? 1.0 : sine(i); };
  EXPECT_EQ(testing_support::difference(model.run(context, fits), model.expected(fits), 0), "");
}

TEST(CardMovement, Pads) {
  for (const char* const mode : {"constant", "reflect", "edge", "wrap"}) {
    for (const char* const type : {"float", "uint8"}) {
      check(fmt::format("g ({0}[2,3,8] x) => ({0}[3,6,8] z) <int64[6] p = {{0,1,0,1,2,0}}> {{ "
                        "z = Pad<mode = \"{1}\">(x, p) }}",
                        type, mode),
            {"movement.pad"}, 0);
    }
    check(fmt::format("g (float[1,5,4] x) => (float[1,5,9] z) <int64[2] p = {{2,3}}, int64[1] a = {{2}}> {{ "
                      "z = Pad<mode = \"{}\">(x, p, , a) }}",
                      mode),
          {"movement.pad"}, 0);
  }
  check("g (float[4,5] x, float v) => (float[3,8] z) <int64[4] p = {-2,1,1,2}> { z = Pad(x, p, v) }", {"movement.pad"},
        0);
}

TEST(CardMovement, TheBestOfRows) {
  for (const char* const type : {"float16", "int64"}) {
    for (const int largest : {0, 1}) {
      check(fmt::format("g ({0}[3,700] x) => ({0}[3,40] v, int64[3,40] i) <int64[1] k = {{40}}> {{ "
                        "v, i = TopK<largest = {1}>(x, k) }}",
                        type, largest),
            {"top_k.rows"}, 0, [](size_t i) { return std::floor(40 * sine(i * i)); });
    }
  }
  for (const int count : {1, 9000, 10000}) {
    check(fmt::format("g (float[10000] x) => (float[{0}] v, int64[{0}] i) <int64[1] k = {{{0}}}> {{ "
                      "v, i = TopK(x, k) }}",
                      count),
          {"top_k.rows"}, 0);
  }
}

TEST(CardMovement, SumsUpToEachElement) {
  const auto check_along = [](const char* shape, int axis, const char* type, const char* attributes) {
    check(fmt::format("g ({0}{1} x) => ({0}{1} z) <int64 a = {{{2}}}> {{ z = CumSum<{3}>(x, a) }}", type, shape, axis,
                      attributes),
          {"cumulative.columns"});
  };
  for (const char* const attributes : {"exclusive = 0", "exclusive = 1", "reverse = 1", "exclusive = 1, reverse = 1"}) {
    check_along("[2,3,40]", 1, "float", attributes);
    check_along("[2,1200]", -1, "float", attributes);
  }
  check_along("[2,3,40]", 0, "int32", "exclusive = 1");
  check_along("[2,1200]", 1, "int64", "reverse = 1");
}

TEST(CardMovement, PlacesOfPools) {
  for (const char* const type : {"float16", "int8"}) {
    check(fmt::format("g ({0}[2,3,7,9] x) => ({0}[2,3,4,5] z, int64[2,3,4,5] i) {{ z, i = MaxPool<kernel_shape = "
                      "[3,3], strides = [2,2], pads = [1,1,1,1], storage_order = 1>(x) }}",
                      type),
          {"pool.places"}, 0, [](size_t i) { return std::floor(100 + 20 * sine(i)); });
  }
  check("g (float[2,3,7,9] x) => (float[2,3,1,1] z) { z = GlobalMaxPool(x) }", {"pool.windows"}, 0);
}

TEST(CardMovement, GridsAndRegions) {
  for (const char* const mode : {"linear", "nearest"}) {
    for (const char* const padding : {"zeros", "border", "reflection"}) {
      for (const int aligns : {0, 1}) {
        check(fmt::format("g (float[2,3,5,6] x, float[2,4,7,2] y) => (float[2,3,4,7] z) {{ z = GridSample<mode = "
                          "\"{}\", padding_mode = \"{}\", align_corners = {}>(x, y) }}",
                          mode, padding, aligns),
              {"grid_sample.points"}, 1e-5, [](size_t i) { return 1.7 * sine(i); });
      }
    }
  }
  for (const char* const mode : {"avg", "max"}) {
    for (const char* const place : {"half_pixel", "output_half_pixel"}) {
      check(fmt::format("g (float[2,3,9,8] x) => (float[3,3,2,4] z) <float[3,4] r = "
                        "{{0,0,7,7,1.5,2,12,6,-3,1,4,20}}, int64[3] b = {{0,1,1}}> {{ z = RoiAlign<mode = \"{}\", "
                        "output_height = 2, output_width = 4, sampling_ratio = {}, "
                        "coordinate_transformation_mode = \"{}\">(x, r, b) }}",
                        mode, place[0] == 'h' ? 0 : 2, place),
            {"roi_align.bins"});
    }
  }
}

}  // namespace
}  // namespace assay::engine::cuda
