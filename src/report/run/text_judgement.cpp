#include "report/run/text_judgement.h"

#include <fmt/format.h>

namespace assay::report {

std::string strings_line(const results::Judgement& judgement) {
  std::string line = fmt::format("{} string(s) differ", *judgement.unequal_strings);
  if (judgement.allowed_share > 0) line += fmt::format(", {:.4g}% may", 100 * judgement.allowed_share);
  return line;
}

std::string judgement_line(const results::Judgement& judgement) {
  if (judgement.unequal_strings) return judgement.function + ": " + strings_line(judgement);
  if (judgement.function == "simple") {
    std::string line =
        fmt::format("simple ({}): needs abs={:.5g} or rel={:.5g}, allowed abs={:.5g}, rel={:.5g}", judgement.statistic,
                    judgement.required_abs, judgement.required_rel, judgement.atol, judgement.rtol);
    if (judgement.allowed_share > 0) line += fmt::format(", {:.4g}% may exceed it", 100 * judgement.allowed_share);
    return line;
  }
  std::string notes;
  for (const std::string& note : judgement.notes) notes += "; " + note;
  if (judgement.function == "indices") return fmt::format("indices: allowed {}{}", judgement.bound, notes);
  const bool is_norm = judgement.function == "l2";
  return fmt::format("{}: {:.8g}, allowed at {} {:.8g}{}", judgement.function, judgement.value,
                     is_norm ? "most" : "least", judgement.bound, notes);
}

}  // namespace assay::report
