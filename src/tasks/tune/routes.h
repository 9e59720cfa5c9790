#pragma once

#include <functional>
#include <vector>

#include "tasks/tune.h"

namespace assay::tasks {

// Tries a route and says by how much it is better than the defaults, in parts of their time; nullopt: it is not, or
// cannot be told.
using TryRoute = std::function<std::optional<double>(const Route& route)>;

// Tries the routes of a search, the defaults excepted, until `is_over`. A route that is tried is not tried again.
void search_routes(Search search, const std::vector<Knob>& knobs, const TryRoute& try_route,
                   const std::function<bool()>& is_over);

}  // namespace assay::tasks
