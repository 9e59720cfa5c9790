#pragma once

#include <string>
#include <string_view>

namespace assay::report {

struct PageFacts {
  std::string version;  // of the program
  std::string command;
  std::string hint;  // thing to try next; empty: none
};

enum class Mark : uint8_t { good, bad, open };

// The first lines of every page; texts are plain.
struct PageHead {
  std::string_view kind;  // the command
  std::string title;
  std::string badge;  // the verdict in one word; empty: the page has none
  Mark mark = Mark::open;
};

std::string page_head(const PageHead& head, const PageFacts& facts);
std::string page_foot(std::string_view line);
// The page with a section for the graph before its foot; `graph` is a page of `view`.
std::string with_graph(std::string page, std::string_view graph);

// A word on its colour; the word is plain.
std::string badge(std::string_view word, Mark mark);
// A line beside a coloured edge; `text` is markup.
std::string note(std::string_view text, bool is_fault = false);
// A number and its label; both are markup.
std::string fact(std::string_view value, std::string_view label);

}  // namespace assay::report
