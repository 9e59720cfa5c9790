#include "base/yaml.h"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "base/error.h"
#include "base/text.h"

namespace assay {
namespace {

constexpr size_t kDeepest = 64;
constexpr size_t kMostValues = 1'000'000;
constexpr std::string_view kNonSpecificTag = "!";  // what the parser gives quoted scalars

// A bound on brackets that keeps the parser's own recursion small.
void check_depth(std::string_view text) {
  size_t depth = 0;
  for (const char letter : text) {
    if (letter == '[' || letter == '{') ++depth;
    if ((letter == ']' || letter == '}') && depth > 0) --depth;
    if (depth > 4 * kDeepest) fail(ErrorCode::parse, "values are nested deeper than {}", kDeepest);
  }
}

// Builds the tree of one document from the parser's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(make(mark, YamlNode::Kind::null), anchor); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(ErrorCode::parse, "line {}: an alias of a value that holds it", mark.line + 1);
    count_ += found->second.second;
    check_count();
    add(found->second.first, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = make(mark, YamlNode::Kind::scalar);
    node.text = value;
    node.is_quoted = tag == kNonSpecificTag || tag == "tag:yaml.org,2002:str";
    const bool is_null = !node.is_quoted && (value.empty() || value == "~" || value == "null");
    if (is_null) node.kind = YamlNode::Kind::null;
    add(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, YamlNode::Kind::list, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, YamlNode::Kind::map, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor;
    size_t first_count;
    bool has_key = false;
    std::string key = {};
  };

  YamlNode make(const YAML::Mark& mark, YamlNode::Kind kind) {
    ++count_;
    check_count();
    YamlNode node;
    node.kind = kind;
    node.line = static_cast<size_t>(std::max(mark.line, 0)) + 1;
    return node;
  }

  void check_count() const {
    if (count_ > kMostValues) fail(ErrorCode::limit, "the text has more than {} values", kMostValues);
  }

  void open(const YAML::Mark& mark, YamlNode::Kind kind, YAML::anchor_t anchor) {
    if (open_.size() >= kDeepest) fail(ErrorCode::parse, "values are nested deeper than {}", kDeepest);
    const size_t first = count_;
    open_.push_back({make(mark, kind), anchor, first});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    if (done.anchor != 0) anchors_[done.anchor] = {done.node, count_ - done.first_count};
    add(std::move(done.node), 0);
  }

  void add(YamlNode node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = {node, 1};
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.has_key) {
      parent.node.entries.emplace_back(std::move(parent.key), std::move(node));
      parent.has_key = false;
    } else {
      set_key(parent, std::move(node));
    }
  }

  static void set_key(Open& parent, YamlNode node) {
    if (node.kind != YamlNode::Kind::scalar) node.fail_here("a name as key");
    if (parent.node.find(node.text)) {
      fail(ErrorCode::parse, "line {}: the key `{}` stands twice", node.line, printable(node.text));
    }
    parent.key = std::move(node.text);
    parent.has_key = true;
  }

  YamlNode root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, std::pair<YamlNode, size_t>> anchors_;  // with the number of values in it
  size_t count_ = 0;
};

bool is_plain_letter(char letter) {
  const bool is_alphanumeric =
      (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
  return is_alphanumeric || letter == '_' || letter == '/' || letter == '.' || letter == '-';
}

// Whether the text reads as text without quotes: it starts with a letter and is no word of YAML's own.
bool is_plain(std::string_view text) {
  static constexpr std::string_view kWords[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
  const bool starts_well = !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_');
  return starts_well && std::ranges::all_of(text, is_plain_letter) &&
         std::ranges::find(kWords, to_lower(text)) == std::end(kWords);
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found = std::ranges::find_if(entries, [&](const auto& entry) { return entry.first == key; });
  return found == entries.end() ? nullptr : &found->second;
}

void YamlNode::fail_here(std::string_view expected) const {
  static constexpr std::string_view kNames[] = {"nothing", "a word", "a list", "a map"};
  const std::string seen =
      kind == Kind::scalar ? fmt::format("`{}`", printable(text)) : std::string(kNames[static_cast<size_t>(kind)]);
  fail(ErrorCode::parse, "line {}: expected {}, found {}", line, expected, seen);
}

std::vector<YamlNode> parse_yaml(std::string_view text) {
  check_depth(text);
  if (!is_utf8(text)) fail(ErrorCode::parse, "the text is not UTF-8");
  std::istringstream stream{std::string(text)};
  std::vector<YamlNode> documents;
  try {
    YAML::Parser parser(stream);
    for (;;) {
      TreeBuilder builder;
      if (!parser.HandleNextDocument(builder)) return documents;
      documents.push_back(builder.take());
    }
  } catch (const YAML::Exception& error) {
    fail(ErrorCode::parse, "line {}: {}", error.mark.line + 1, error.msg);
  }
}

std::string yaml_text(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string quoted = "\"";
  for (const char letter : text) {
    const bool is_control = static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f;
    if (is_control) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
    } else {
      if (letter == '"' || letter == '\\') quoted += '\\';
      quoted += letter;
    }
  }
  return quoted + '"';
}

}  // namespace assay
