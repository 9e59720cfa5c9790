#include "report/view/page.h"

#include <array>
#include <span>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/gzip.h"
#include "base/sha256.h"

namespace assay::report {

std::string_view view_shell();  // embedded, as those below
std::string_view view_styles();
std::string_view view_early();
std::string_view view_script();

namespace {

constexpr int kLevel = 6;

std::string replaced(std::string text, std::string_view mark, std::string_view with) {
  const size_t at = text.find(mark);
  if (at != std::string::npos) text.replace(at, mark.size(), with);
  return text;
}

std::string filled(std::string_view styles, std::string_view data, std::string_view script) {
  std::string text(view_shell());
  text = replaced(std::move(text), "@SCRIPT@", script);
  text = replaced(std::move(text), "@DATA@", data);
  return replaced(std::move(text), "@STYLE@", styles);
}

std::string digest(std::string_view text) {
  const Digest bytes = sha256(text);
  return "'sha256-" + base64_encode(std::as_bytes(std::span(bytes))) + "'";
}

std::string policy() {
  return fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; style-src {}; img-src "
      "data: blob:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'\">\n",
      digest(view_script()), digest(view_styles()));
}

std::string script_element(std::string_view script) { return fmt::format("<script>{}</script>", script); }

std::string style_element() { return fmt::format("<style>{}</style>", view_styles()); }

// A script element that no browser runs.
std::string data_element(std::string_view id, std::string_view packed) {
  return fmt::format("<script type=\"application/x-assay\" id=\"{}\">{}</script>\n", id,
                     base64_encode(std::as_bytes(std::span(packed))));
}

std::string packed(const Container& container) {
  GzipWriter writer(kLevel);
  container.write([&](std::string_view piece) { writer.add(piece); });
  return writer.finish();
}

}  // namespace

std::string served_page() {
  return filled(script_element(view_early()) + style_element(), "", script_element(view_script()));
}

std::string served_sources() {
  return fmt::format("script-src {} {}; style-src {}; ", digest(view_early()), digest(view_script()),
                     digest(view_styles()));
}

std::string exported_page(const ExportedPage& page) {
  std::string data;
  for (const auto& [id, container] : page.containers) data += data_element(id, packed(container));
  for (const auto& [id, content] : page.documents) data += data_element(id, gzip(content, kLevel));
  return filled(policy() + style_element(), data, script_element(view_script()));
}

}  // namespace assay::report
