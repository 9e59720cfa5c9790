#include "report/html/frame.h"

#include <array>

#include <fmt/format.h>

#include "report/html/markup.h"

namespace assay::report {

std::string_view page_css();     // of page.css
std::string_view page_script();  // of page.js

namespace {

constexpr size_t kLongestTitle = 400;
constexpr size_t kLongestCommand = 800;

std::string_view word_of(Mark mark) {
  constexpr std::array<std::string_view, 3> kWords = {"good", "bad", "open"};
  return kWords[static_cast<size_t>(mark)];
}

// A text that comes out of an attribute as it is: its digest stays the same.
std::string in_quotes(std::string_view text) {
  std::string result;
  result.reserve(text.size() + text.size() / 16);
  for (const char letter : text) {
    if (letter == '&')
      result += "&amp;";
    else if (letter == '"')
      result += "&quot;";
    else
      result += letter;
  }
  return result;
}

}  // namespace

std::string page_head(const PageHead& head, const PageFacts& facts) {
  const std::string title = escaped_start(head.title, kLongestTitle);
  const std::string word = escaped(head.badge);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>{0}{1}{2}</title>\n<style>\n{3}</style>\n"
      "</head>\n<body>\n<main>\n<header class=\"top\"><div><div class=\"brand\">assay {4} · {5}</div><h1>{2}</h1>\n"
      "<div class=\"soft mono\">{6}</div></div>{7}</header>\n",
      word, word.empty() ? "" : ": ", title, page_css(), escaped(facts.version), escaped(head.kind),
      escaped_start(facts.command, kLongestCommand),
      word.empty() ? "" : fmt::format("<div class=\"badge large {}\">{}</div>", word_of(head.mark), word));
}

std::string page_foot(std::string_view line) {
  return fmt::format("<footer>{}</footer>\n</main>\n<script>\n{}</script>\n</body>\n</html>\n", escaped(line),
                     page_script());
}

std::string with_graph(std::string page, std::string_view graph) {
  const size_t foot = page.rfind("<footer>");
  if (foot == std::string::npos) return page;
  const std::string section =
      "<h2>Graph</h2>\n<iframe class=\"graph\" title=\"graph of the model\" sandbox=\"allow-scripts allow-downloads\" "
      "srcdoc=\"" +
      in_quotes(graph) + "\"></iframe>\n";
  return page.insert(foot, section);
}

std::string badge(std::string_view word, Mark mark) {
  return fmt::format("<span class=\"badge {}\">{}</span>", word_of(mark), escaped(word));
}

std::string note(std::string_view text, bool is_fault) {
  return fmt::format("<p class=\"note{}\">{}</p>\n", is_fault ? " fault" : "", text);
}

std::string fact(std::string_view value, std::string_view label) {
  return fmt::format("<div class=\"fact\"><b>{}</b><span>{}</span></div>", value, label);
}

}  // namespace assay::report
