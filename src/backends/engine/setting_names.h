#pragma once

#include <string_view>

// The names under which the engine's backend is told how to build and run.
namespace assay::backends::setting {

inline constexpr std::string_view kDevice = "device";
inline constexpr std::string_view kStrict = "strict";
inline constexpr std::string_view kBfloat16 = "bf16";
inline constexpr std::string_view kFloat16 = "fp16";
inline constexpr std::string_view kTf32 = "tf32";
inline constexpr std::string_view kFloat8 = "fp8";
inline constexpr std::string_view kInt8 = "int8";
inline constexpr std::string_view kBest = "best";
inline constexpr std::string_view kStronglyTyped = "strongly-typed";
inline constexpr std::string_view kConstraints = "precision-constraints";
inline constexpr std::string_view kLayerTypes = "layer-precisions";
inline constexpr std::string_view kOutputTypes = "layer-output-types";
inline constexpr std::string_view kPools = "pool-limit";
inline constexpr std::string_view kLevel = "builder-optimization-level";
inline constexpr std::string_view kMostTactics = "max-tactics";
inline constexpr std::string_view kMeasure = "measure-tactics";
inline constexpr std::string_view kLoadCache = "load-timing-cache";
inline constexpr std::string_view kSaveCache = "save-timing-cache";
inline constexpr std::string_view kCacheOnly = "error-on-timing-cache-miss";
inline constexpr std::string_view kLoadTactics = "load-tactics";
inline constexpr std::string_view kSaveTactics = "save-tactics";
inline constexpr std::string_view kExclude = "exclude-tactics";
inline constexpr std::string_view kSources = "tactic-sources";
inline constexpr std::string_view kLeastShapes = "trt-min-shapes";
inline constexpr std::string_view kBestShapes = "trt-opt-shapes";
inline constexpr std::string_view kMostShapes = "trt-max-shapes";
inline constexpr std::string_view kProfile = "optimization-profile";
inline constexpr std::string_view kSaveEngine = "save-engine";
inline constexpr std::string_view kStrip = "strip-plan";
inline constexpr std::string_view kRefittable = "refittable";
inline constexpr std::string_view kMarkDebug = "mark-debug";
inline constexpr std::string_view kRefit = "refit-from";
inline constexpr std::string_view kTrustPlan = "trust-plan";

}  // namespace assay::backends::setting
