#include "tasks/run/pictures.h"

#include <cerrno>

#include <fmt/format.h>
#include <unistd.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "compare/heat_map.h"
#include "compare/scatter.h"
#include "picture/heat_map_image.h"
#include "picture/png.h"
#include "picture/scatter_image.h"

namespace assay::tasks {
namespace {

constexpr compare::PictureLimit kOfFile = {.rows = 1080, .columns = 1920};
constexpr compare::PictureLimit kOfPage = {.rows = 320, .columns = 320};
constexpr compare::PictureLimit kSmall = {.rows = 64, .columns = 64};
// The most cells of all pictures of a page together; outputs that passed leave half of it to those that failed.
constexpr uint64_t kMostCells = uint64_t{8} << 20;

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    fail(ErrorCode::io, "cannot make the folder `{}`: {}", printable(folder.string()), errno_text(error.value()));
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return;
  fail(ErrorCode::io, "cannot write into the folder `{}`: {}", printable(folder.string()), errno_text(errno));
}

std::optional<std::filesystem::path> folder_of(const std::optional<std::string>& asked, std::string_view stem) {
  if (!asked) return std::nullopt;
  if (asked->empty()) return make_temporary_folder(fmt::format("assay_{}", stem));
  make_folder(*asked);
  return *asked;
}

bool is_safe(char c) {
  constexpr std::string_view kSafe = " .,;=+-_()[]@";
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         kSafe.find(c) != std::string_view::npos;
}

// A name that any file system takes; different texts may get the same one.
std::string file_name(std::string_view text) {
  constexpr size_t kLongest = 120;
  std::string name = printable(text);
  if (name.size() > kLongest) {
    size_t end = kLongest;
    while ((static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
    name.resize(end);
  }
  for (char& c : name) {
    if (!is_safe(c)) c = '_';
  }
  if (name.starts_with('.')) name[0] = '_';
  return name.empty() ? "_" : name;
}

void write_picture(const std::filesystem::path& path, const picture::Image& image) {
  OutputFile file(path);
  file.write(Bytes(picture::png(image)));
  file.commit();
}

results::DifferenceMaps reduced(const results::DifferenceMaps& maps, compare::PictureLimit limit) {
  results::DifferenceMaps result = {compare::reduced(maps.absolute, limit), compare::reduced(maps.relative, limit)};
  result.is_reduced = maps.is_reduced || result.absolute.cells.size() < maps.absolute.cells.size();
  return result;
}

uint64_t cell_count(const results::DifferenceMaps& maps) {
  return maps.absolute.cells.size() + maps.relative.cells.size();
}

}  // namespace

Pictures::Pictures(const RunRequest& request, std::span<const exec::RunnerPtr> runners, Observer& observer)
    : observer_(observer),
      infinities_equal_(request.compare.infinities_equal),
      wants_page_(request.makes_page),
      heat_maps_(folder_of(request.heat_maps, "heatmaps")),
      error_plots_(folder_of(request.error_plots, "error_plots")) {
  for (const exec::RunnerPtr& runner : runners) runners_.push_back(runner->name());
}

void Pictures::draw(const compare::ComparedAt& at, const tensor::Tensor& a, const tensor::Tensor& b,
                    results::OutputComparison& output) {
  if (a.count() == 0 || failure_) return;
  try {
    draw_all(at, a, b, output);
  } catch (const Error& error) {
    failure_ = error;
  }
}

void Pictures::draw_all(const compare::ComparedAt& at, const tensor::Tensor& a, const tensor::Tensor& b,
                        results::OutputComparison& output) {
  if (heat_maps_ || wants_page_) {
    const results::DifferenceMaps maps =
        compare::difference_maps(a, b, heat_maps_ ? kOfFile : kOfPage, infinities_equal_);
    if (heat_maps_) save_heat_maps(at, maps, output.name_a);
    if (wants_page_) keep_for_page(maps, output);
  }
  if (error_plots_) save_error_plot(at, compare::scatter(a, b, {.columns = 900, .rows = 320}), output.name_a);
}

void Pictures::keep_for_page(const results::DifferenceMaps& maps, results::OutputComparison& output) {
  const uint64_t most = output.passed ? kMostCells / 2 : kMostCells;
  results::OutputMaps kept = {.small = reduced(maps, kSmall)};
  const bool is_all = kept.small.absolute.cells.size() == maps.absolute.cells.size();
  if (!is_all && !output.passed) kept.large = reduced(maps, kOfPage);
  const uint64_t cells = cell_count(kept.small) + (kept.large ? cell_count(*kept.large) : 0);
  if (kept_cells_ + cells > most) return;
  kept_cells_ += cells;
  output.maps = std::move(kept);
}

std::filesystem::path Pictures::free_path(const std::filesystem::path& root, const compare::ComparedAt& at,
                                          const std::string& name) {
  const std::string pair =
      fmt::format("{} {} vs. {}", at.pair, file_name(runners_[at.pair]), file_name(runners_[at.pair + 1]));
  const std::filesystem::path folder = root / pair / fmt::format("{}", at.iteration);
  make_folder(folder);
  const std::string stem = file_name(name);
  std::filesystem::path path = folder / (stem + ".png");
  for (int number = 2; !written_.insert(path).second; ++number)
    path = folder / fmt::format("{} ({}).png", stem, number);
  return path;
}

void Pictures::save_heat_maps(const compare::ComparedAt& at, const results::DifferenceMaps& maps,
                              const std::string& name) {
  const auto save = [&](std::string_view kind, const results::HeatMap& map, picture::HeatScale scale) {
    const std::filesystem::path path = free_path(*heat_maps_, at, fmt::format("{} Error - {}", kind, name));
    observer_.info(
        fmt::format("Saving '{} Error | {}' heatmap to: '{}'", kind, printable(name), printable(path.string())));
    write_picture(path, picture::heat_map_picture(map, scale));
  };
  save("Absolute", maps.absolute, picture::HeatScale::linear);
  save("Relative", maps.relative, picture::HeatScale::logarithmic);
}

void Pictures::save_error_plot(const compare::ComparedAt& at, const results::Scatter& scatter,
                               const std::string& name) {
  const std::filesystem::path path = free_path(*error_plots_, at, "error_metrics_" + name);
  observer_.info(fmt::format("Saving error metrics plot to: '{}'", printable(path.string())));
  write_picture(path, picture::scatter_image(scatter));
}

}  // namespace assay::tasks
