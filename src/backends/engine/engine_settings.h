#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "engine/plan/manifest.h"
#include "engine/program/builder_config.h"
#include "exec/backend.h"

namespace assay::backends {

// Settings of the engine, by the names that it declares.
struct EngineSettings {
  engine::BuilderConfig config;
  std::optional<size_t> profile;          // the one that runs have; nullopt: the first that takes their inputs
  std::string save_engine;                // files; empty: nothing is saved
  bool strips_plan = false;               // true: without weights
  bool keeps_source = false;              // with all weights of the source model
  std::vector<std::string> debug_values;  // of the main graph, which no layer takes in
  std::string save_timing_cache;
  std::string save_tactics;
};

std::vector<exec::Setting> declared_engine_settings();
// Answers of exec::Backend for the engine.
std::optional<tensor::DType> least_engine_type(const exec::Settings& settings);
std::vector<exec::SettingChange> stricter_engine_settings(const exec::Settings& settings);

// Loads the files that they name. `measures`: tactics are, also where nobody asked for it. Error for one that cannot be
// read, (usage) for tactics that the device does not have.
EngineSettings read_engine_settings(const exec::Settings& settings, const engine::Device& device, bool measures,
                                    Diagnostics& findings);
// Warns of permissions that have no effect, in the light of how the engine computes.
void tell_unused_types(const exec::Settings& settings, const engine::Precision& precision, Diagnostics& findings);
// Adds what the file has already. Error if it holds something else.
void save_timing_cache(const std::string& path, engine::TimingCache& cache);
// Error (usage) if something is told that was decided when a plan was built.
void check_settings_of_plan(const exec::Settings& settings, const engine::Manifest& manifest);

}  // namespace assay::backends
