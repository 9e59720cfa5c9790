#include "tasks/tune/routes.h"

#include <map>

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::tasks {
namespace {

const std::vector<Knob> kKnobs = {{"a", {"0", "1"}}, {"b", {"0", "1", "2"}}};

// The routes that are tried, where `gains` says what each gains.
std::vector<std::string> tried(Search search, const std::map<std::string, double>& gains) {
  std::vector<std::string> routes;
  search_routes(
      search, kKnobs,
      [&](const Route& route) -> std::optional<double> {
        routes.push_back(route_text(route));
        const auto gain = gains.find(routes.back());
        return gain == gains.end() ? std::nullopt : std::optional(gain->second);
      },
      [] { return false; });
  return routes;
}

using Routes = std::vector<std::string>;

TEST(SearchRoutes, FastChangesOneKnobAtATimeTheLastFirst) {
  EXPECT_EQ(tried(Search::fast, {}), (Routes{"-b=1", "-b=2", "-a=1"}));
}

TEST(SearchRoutes, FullTriesAllTogetherTheLastKnobFastest) {
  EXPECT_EQ(tried(Search::full, {}), (Routes{"-b=1", "-b=2", "-a=1", "-a=1 -b=1", "-a=1 -b=2"}));
}

TEST(SearchRoutes, MixedPutsTogetherWhatWasBetterAlone) {
  EXPECT_EQ(tried(Search::mixed, {{"-b=2", 0.1}, {"-a=1", 0.2}}), (Routes{"-b=1", "-b=2", "-a=1", "-a=1 -b=2"}));
  EXPECT_EQ(tried(Search::mixed, {}), (Routes{"-b=1", "-b=2", "-a=1"}));
}

TEST(SearchRoutes, GreedyKeepsTheBestChangeWhileThereIsOne) {
  const std::map<std::string, double> gains = {{"-a=1", 0.1}, {"-b=1", 0.2}, {"-a=1 -b=1", 0.3}, {"-a=1 -b=2", 0.25}};
  EXPECT_EQ(tried(Search::greedy, gains), (Routes{"-a=1", "-b=1", "-b=2", "-a=1 -b=1", "-a=1 -b=2"}));
  EXPECT_EQ(tried(Search::greedy, {}), (Routes{"-a=1", "-b=1", "-b=2"}));
}

TEST(SearchRoutes, EndsWhenItIsOver) {
  int count = 0;
  search_routes(
      Search::full, kKnobs, [&](const Route&) { return ++count, std::optional<double>(); }, [&] { return count == 2; });
  EXPECT_EQ(count, 2);
}

TEST(ParseKnobs, TheDefaultComesFirstAndOneValueIsFixed) {
  const std::vector<Knob> knobs = parse_knobs("-bf16=[on|off]  -level=5 -without=[conv.onednn]", "engine");
  ASSERT_EQ(knobs.size(), 3U);
  EXPECT_EQ(knobs[0].values, (std::vector<std::string>{"off", "on"}));
  EXPECT_EQ(knobs[1].values, (std::vector<std::string>{"5"}));
  EXPECT_EQ(knobs[2].values, (std::vector<std::string>{"conv.onednn"}));
}

TEST(ParseKnobs, RefusesUnknownWords) {
  for (const char* words : {"-nothing=1", "-bf16=maybe", "bf16=on", "-bf16", "-bf16=", "-level=3 -level=4"}) {
    EXPECT_THROW(parse_knobs(words, "engine"), Error) << words;
  }
}

TEST(ParseKnobs, OthersAreLeftToTensorRt) {
  const std::vector<Knob> knobs = parse_knobs("-level=[5] -conv:tile=[1|2] -fuse=off", "tensorrt");
  ASSERT_EQ(knobs.size(), 3U);
  EXPECT_EQ(knobs[1].values, (std::vector<std::string>{"default", "1", "2"}));
  exec::Settings settings;
  apply_route({{"level", "5"}, {"conv:tile", "2"}, {"other", "default"}, {"fuse", "off"}}, settings);
  EXPECT_EQ(settings.text("build-route"), "-conv:tile=2 -fuse=off");
  EXPECT_EQ(settings.text("builder-optimization-level"), "5");
  EXPECT_THROW(parse_knobs("-level=9", "tensorrt"), Error);
}

TEST(ApplyRoute, SetsWhatTheEngineKnows) {
  exec::Settings settings;
  apply_route({{"tactics", "measured"}, {"bf16", "on"}, {"strict", "off"}, {"level", "2"}, {"without", "none"}},
              settings);
  EXPECT_TRUE(settings.has("measure-tactics"));
  EXPECT_TRUE(settings.has("bf16"));
  EXPECT_FALSE(settings.has("strict"));
  EXPECT_FALSE(settings.has("exclude-tactics"));
  EXPECT_EQ(settings.text("builder-optimization-level"), "2");
}

}  // namespace
}  // namespace assay::tasks
