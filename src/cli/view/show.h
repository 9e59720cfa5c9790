#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tasks/view.h"

namespace assay::cli {

class Arguments;
struct Environment;

// The place where a view is shown.
struct ViewPlace {
  std::string output;  // a file, .html or .svg; empty: it is served
  uint16_t port = 0;   // 0: any that is free
  bool opens_browser = true;
  bool keeps_running = false;  // also while no page is open
};

uint16_t parse_port(std::string_view option, const std::string& text);

// Writes the view, or serves it until its page is closed. A file that cannot be written is told before anything is
// read.
void show_view(const tasks::ViewRequest& request, const ViewPlace& place, const Arguments& arguments,
               Environment& environment);

}  // namespace assay::cli
