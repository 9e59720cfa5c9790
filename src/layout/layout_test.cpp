#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "base/stopwatch.h"
#include "base/thread_stopwatch.h"
#include "layout/graph.h"

namespace assay::layout {
namespace {

struct Maker {
  Graph graph;

  uint32_t box(float width = 80, float height = 24) {
    graph.boxes.push_back({width, height});
    return static_cast<uint32_t>(graph.boxes.size() - 1);
  }
  void wire(uint32_t from, const std::vector<uint32_t>& to) {
    graph.wires.push_back({from, static_cast<uint32_t>(graph.targets.size()), static_cast<uint32_t>(to.size())});
    graph.targets.insert(graph.targets.end(), to.begin(), to.end());
  }
};

Graph chain(uint32_t count) {
  Maker maker;
  for (uint32_t i = 0; i < count; ++i) {
    maker.box();
    if (i > 0) maker.wire(i - 1, {i});
  }
  return std::move(maker.graph);
}

// Blocks as those of a transformer: three branches, a skipping line, and a mask that each block reads.
Graph transformer(uint32_t blocks) {
  Maker maker;
  const uint32_t mask = maker.box();
  uint32_t last = maker.box();
  std::vector<uint32_t> readers;
  for (uint32_t i = 0; i < blocks; ++i) {
    const uint32_t split = maker.box();
    maker.wire(last, {split});
    const uint32_t a = maker.box(), b = maker.box(), c = maker.box();
    maker.wire(split, {a, b, c});
    const uint32_t product = maker.box();
    maker.wire(a, {product});
    maker.wire(b, {product});
    const uint32_t sum = maker.box();
    const uint32_t join = maker.box();
    readers.push_back(sum);
    maker.wire(product, {sum});
    maker.wire(sum, {join});
    maker.wire(c, {join});
    const uint32_t skip = maker.box();
    maker.wire(join, {skip});
    last = skip;
  }
  maker.wire(mask, readers);
  maker.wire(last, {kBorder});
  return std::move(maker.graph);
}

// Any number of edges between any boxes; `forward` leaves out those that could close a cycle.
Graph random_graph(uint32_t seed, uint32_t boxes, uint32_t wires, bool forward) {
  std::mt19937 random(seed);
  Maker maker;
  for (uint32_t i = 0; i < boxes; ++i) maker.box(20 + random() % 100, 10 + random() % 40);
  for (uint32_t i = 0; i < wires; ++i) {
    const uint32_t from = random() % 10 == 0 ? kBorder : random() % boxes;
    std::vector<uint32_t> to;
    for (uint32_t k = random() % 3 + 1; k > 0; --k) {
      const uint32_t target = random() % 10 == 0 ? kBorder : random() % boxes;
      const bool fits = !forward || from == kBorder || target == kBorder || target > from;
      if (fits && std::ranges::find(to, target) == to.end()) to.push_back(target);
    }
    maker.wire(from, to);
  }
  return std::move(maker.graph);
}

bool overlap(const Graph& graph, const Picture& picture, uint32_t a, uint32_t b) {
  const Point p = picture.places[a], q = picture.places[b];
  return p.x < q.x + graph.boxes[b].width && q.x < p.x + graph.boxes[a].width && p.y < q.y + graph.boxes[b].height &&
         q.y < p.y + graph.boxes[a].height;
}

void expect_no_overlaps(const Graph& graph, const Picture& picture) {
  for (uint32_t a = 0; a < graph.boxes.size(); ++a) {
    EXPECT_GE(picture.places[a].x, -0.01F);
    EXPECT_LE(picture.places[a].x + graph.boxes[a].width, picture.width + 0.5F);
    EXPECT_LE(picture.places[a].y + graph.boxes[a].height, picture.height + 0.5F);
    for (uint32_t b = 0; b < a; ++b) ASSERT_FALSE(overlap(graph, picture, a, b)) << a << " and " << b;
  }
}

bool is_same(const Picture& a, const Picture& b) {
  return a.places == b.places && a.bends == b.bends && a.layers == b.layers && a.rails == b.rails;
}

size_t backward_lines(const Graph& graph, const Picture& picture) {
  return static_cast<size_t>(std::ranges::count_if(picture.lines, [&](const Line& line) {
    const uint32_t from = graph.wires[line.wire].from;
    return from != kBorder && line.to != kBorder && picture.layers[line.to] <= picture.layers[from];
  }));
}

TEST(Layout, a_diamond_by_hand) {
  Maker maker;
  const uint32_t top = maker.box(40, 20), left = maker.box(40, 20), right = maker.box(40, 20), end = maker.box(40, 20);
  maker.wire(top, {left, right});
  maker.wire(left, {end});
  maker.wire(right, {end});
  const Picture picture = draw(maker.graph);
  EXPECT_EQ(picture.layers, (std::vector<uint32_t>{0, 1, 1, 2}));
  EXPECT_EQ(picture.ranks, (std::vector<uint32_t>{0, 0, 1, 0}));
  EXPECT_EQ(picture.places, (std::vector<Point>{{32, 0}, {0, 52}, {64, 52}, {32, 104}}));
  EXPECT_EQ(picture.width, 104);
  EXPECT_EQ(picture.height, 124);
}

TEST(Layout, a_skipping_line_is_straight_and_shared) {
  Maker maker;
  for (int i = 0; i < 4; ++i) maker.box(40, 20);
  maker.wire(0, {1, 2, 3});
  maker.wire(1, {2});
  maker.wire(2, {3});
  const Picture picture = draw(maker.graph);
  ASSERT_EQ(picture.bends.size(), 2u);
  EXPECT_EQ(picture.bends[0].x, picture.bends[1].x);
  ASSERT_EQ(picture.lines.size(), 5u);
  EXPECT_EQ(picture.lines[0].bend_count, 0u);
  EXPECT_EQ(picture.lines[1].bend_count, 1u);
  EXPECT_EQ(picture.lines[2].bend_count, 2u);
  EXPECT_EQ(picture.lines[1].bend_start, picture.lines[2].bend_start);
}

TEST(Layout, random_graphs_do_not_overlap_and_go_forward) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Graph graph = random_graph(seed, 10 + seed * 3, 20 + seed * 4, true);
    const Picture picture = draw(graph);
    expect_no_overlaps(graph, picture);
    EXPECT_EQ(backward_lines(graph, picture), 0u) << seed;
    EXPECT_TRUE(is_same(picture, draw(graph)));
  }
}

TEST(Layout, cycles_are_drawn) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Graph graph = random_graph(seed, 5 + seed * 2, 10 + seed * 4, false);
    const Picture picture = draw(graph);
    expect_no_overlaps(graph, picture);
    EXPECT_LT(backward_lines(graph, picture), picture.lines.size() / 2 + 3);
  }
  Maker maker;
  maker.box();
  maker.box();
  maker.wire(0, {1, 0});
  maker.wire(1, {0});
  EXPECT_EQ(draw(maker.graph).layers, (std::vector<uint32_t>{0, 1}));
}

TEST(Layout, bends_stay_inside_the_picture_and_lines_name_them) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    const Picture picture = draw(random_graph(seed, 200, 300, true));
    for (const Line& line : picture.lines) ASSERT_LE(line.bend_start + line.bend_count, picture.bends.size());
    for (const Point& bend : picture.bends) {
      EXPECT_GE(bend.x, -40);
      EXPECT_LE(bend.x, picture.width + 40);
    }
  }
}

TEST(Layout, a_mask_that_all_blocks_read_is_a_rail) {
  const Graph graph = transformer(100);
  const Picture picture = draw(graph);
  EXPECT_EQ(std::ranges::count(picture.rails, 1), 1);
  EXPECT_GT(picture.columns, 1u);
  expect_no_overlaps(graph, picture);
}

// What stood side by side still does, in the same order.
TEST(Layout, a_new_box_leaves_the_others_in_order) {
  Graph graph = transformer(40);
  const Picture before = draw(graph);
  graph.boxes.push_back({60, 24});
  graph.wires.push_back({150, static_cast<uint32_t>(graph.targets.size()), 1});
  graph.targets.push_back(static_cast<uint32_t>(graph.boxes.size() - 1));
  const Picture after = draw(graph);
  EXPECT_TRUE(std::equal(before.layers.begin(), before.layers.end(), after.layers.begin()));
  size_t moved = 0;
  for (size_t i = 0; i < before.ranks.size(); ++i) moved += before.ranks[i] != after.ranks[i];
  EXPECT_LE(moved, 1u);
}

TEST(Layout, a_chain_of_a_million) {
  const Graph graph = chain(1'000'000);
  const Picture picture = draw(graph);
  EXPECT_EQ(picture.layers.back(), 999'999u);
  EXPECT_LT(picture.width, 8 * picture.height);
  EXPECT_LT(picture.height, 8 * picture.width);
}

TEST(Layout, a_fan_out_of_a_hundred_thousand) {
  Maker maker;
  maker.box();
  std::vector<uint32_t> all;
  for (int i = 0; i < 100'000; ++i) all.push_back(maker.box());
  maker.wire(0, all);
  const Picture picture = draw(maker.graph);
  EXPECT_EQ(picture.layers.back(), 1u);
  EXPECT_EQ(picture.rails[0], 1);
  EXPECT_TRUE(picture.bends.empty());
}

TEST(Layout, a_hundred_thousand_boxes_at_once) {
  const Graph graph = transformer(12'500);
  const Stopwatch watch;
  const Picture picture = draw(graph);
  RecordProperty("seconds", std::to_string(watch.seconds()));
  EXPECT_LT(watch.seconds(), 1.5) << "0.2 on an idle machine";
  EXPECT_EQ(picture.places.size(), graph.boxes.size());
}

TEST(Layout, cost_is_linear) {
  const auto cost = [](uint32_t blocks) {
    const Graph graph = transformer(blocks);
    double least = 1e9;
    for (int i = 0; i < 3; ++i) {
      const ThreadStopwatch watch;
      static_cast<void>(draw(graph));
      least = std::min(least, watch.seconds());
    }
    return least;
  };
  EXPECT_LT(cost(4000), 8 * cost(1000));
}

TEST(Layout, nothing_is_nothing) { EXPECT_EQ(draw({}).columns, 1u); }

}  // namespace
}  // namespace assay::layout
