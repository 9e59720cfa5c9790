#include "tasks/tune/routes.h"

#include <algorithm>
#include <optional>
#include <set>

namespace assay::tasks {
namespace {

class Searcher {
 public:
  Searcher(const std::vector<Knob>& knobs, const TryRoute& try_route, const std::function<bool()>& is_over)
      : knobs_(knobs), try_route_(try_route), is_over_(is_over) {}

  // One change at a time, the last knob first; returns the knobs that were better with some value.
  std::vector<Knob> one_by_one() {
    std::vector<Knob> better;
    for (size_t k = knobs_.size(); k-- > 0;) {
      Knob kept{.name = knobs_[k].name, .values = {knobs_[k].values.front()}};
      for (size_t v = 1; v < knobs_[k].values.size(); ++v) {
        if (attempt({{knobs_[k].name, knobs_[k].values[v]}})) kept.values.push_back(knobs_[k].values[v]);
      }
      if (kept.values.size() > 1) better.insert(better.begin(), std::move(kept));
    }
    return better;
  }

  // All values together, the last knob changing fastest.
  void all(const std::vector<Knob>& knobs) {
    std::vector<size_t> places(knobs.size());
    for (bool is_left = !knobs.empty(); is_left;) {
      Route route;
      for (size_t k = 0; k < knobs.size(); ++k) {
        if (places[k] > 0) route.emplace_back(knobs[k].name, knobs[k].values[places[k]]);
      }
      if (!route.empty()) attempt(route);
      is_left = false;
      for (size_t k = knobs.size(); k-- > 0 && !is_left;) {
        is_left = ++places[k] < knobs[k].values.size();
        if (!is_left) places[k] = 0;
      }
    }
  }

  // Keeps the best of all single changes to the best route so far, while there is one.
  void greedily() {
    Route best;
    double gain = 0;
    for (bool is_better = true; is_better && !is_over_();) {
      is_better = false;
      Route next = best;
      for (const Knob& knob : knobs_) {
        for (size_t v = 1; v < knob.values.size(); ++v) {
          const Route route = changed(best, knob.name, knob.values[v]);
          const std::optional<double> seen = attempt(route);
          if (!seen || *seen <= gain) continue;
          gain = *seen;
          next = route;
          is_better = true;
        }
      }
      best = next;
    }
  }

 private:
  // The route with another value of a knob, in the order of the knobs.
  Route changed(const Route& route, const std::string& name, const std::string& value) const {
    Route result;
    for (const Knob& knob : knobs_) {
      const auto old = std::ranges::find(route, knob.name, &Route::value_type::first);
      if (knob.name == name)
        result.emplace_back(name, value);
      else if (old != route.end())
        result.push_back(*old);
    }
    return result;
  }

  std::optional<double> attempt(const Route& route) {
    if (is_over_() || !tried_.insert(route).second) return std::nullopt;
    return try_route_(route);
  }

  const std::vector<Knob>& knobs_;
  const TryRoute& try_route_;
  const std::function<bool()>& is_over_;
  std::set<Route> tried_;
};

}  // namespace

void search_routes(Search search, const std::vector<Knob>& knobs, const TryRoute& try_route,
                   const std::function<bool()>& is_over) {
  Searcher searcher(knobs, try_route, is_over);
  if (search == Search::greedy) return searcher.greedily();
  if (search == Search::full) return searcher.all(knobs);
  const std::vector<Knob> better = searcher.one_by_one();
  if (search == Search::mixed) searcher.all(better);
}

}  // namespace assay::tasks
