#include "base/yaml.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_set>
#include <utility>

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
constexpr size_t kTextPerValue = 256;              // bytes of text that weigh as much as one value more
constexpr std::string_view kNonSpecificTag = "!";  // the tag that the parser gives quoted scalars

// A bound on brackets that keeps the parser's own recursion small.
void check_depth(std::string_view text) {
  size_t depth = 0;
  for (const char letter : text) {
    if (letter == '[' || letter == '{') ++depth;
    if ((letter == ']' || letter == '}') && depth > 0) --depth;
    if (depth > 4 * kDeepest) fail(ErrorCode::parse, "values are nested deeper than {}", kDeepest);
  }
}

// Builds the trees of all documents from the parser's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  std::vector<YamlNode> take() { return std::move(documents_); }

  // The parser gives empty documents without end where it stands before what can begin none.
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (mark.pos <= start_) fail(ErrorCode::parse, "line {}: expected a value", mark.line + 1);
    start_ = mark.pos;
    count(1);
  }
  void OnDocumentEnd() override {
    documents_.push_back(std::exchange(root_, {}));
    anchors_.clear();
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(make(mark, YamlNode::Kind::null), anchor); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(ErrorCode::parse, "line {}: an alias of a value that holds it", mark.line + 1);
    count(found->second.second);
    add(found->second.first, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = make(mark, YamlNode::Kind::scalar);
    node.text = value;
    count(value.size() / kTextPerValue);
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
    std::unordered_set<std::string> keys = {};
  };

  YamlNode make(const YAML::Mark& mark, YamlNode::Kind kind) {
    count(1);
    YamlNode node;
    node.kind = kind;
    node.line = static_cast<size_t>(std::max(mark.line, 0)) + 1;
    return node;
  }

  void count(size_t values) {
    count_ += values;
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
    if (done.anchor != 0) keep(done.anchor, done.node, count_ - done.first_count);
    add(std::move(done.node), 0);
  }

  // Keeps a copy for aliases, which counts as values of its own.
  void keep(YAML::anchor_t anchor, const YamlNode& node, size_t values) {
    count(values);
    anchors_[anchor] = {node, values};
  }

  void add(YamlNode node, YAML::anchor_t anchor) {
    if (anchor != 0) keep(anchor, node, 1 + node.text.size() / kTextPerValue);
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.has_key) {
      parent.node.entries.push_back({std::move(parent.key), std::move(node)});
      parent.has_key = false;
    } else {
      set_key(parent, std::move(node));
    }
  }

  static void set_key(Open& parent, YamlNode node) {
    if (node.kind != YamlNode::Kind::scalar) node.fail_here("a name as key");
    if (!parent.keys.insert(node.text).second) {
      fail(ErrorCode::parse, "line {}: the key `{}` occurs twice", node.line, printable(node.text));
    }
    parent.key = std::move(node.text);
    parent.has_key = true;
  }

  std::vector<YamlNode> documents_;
  int start_ = -1;  // of the last document
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

// True if the text reads as text without quotes: it starts with a letter and is not a word of YAML's own.
bool is_plain(std::string_view text) {
  static constexpr std::string_view kWords[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
  const bool starts_well = !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_');
  return starts_well && std::ranges::all_of(text, is_plain_letter) &&
         std::ranges::find(kWords, to_lower(text)) == std::end(kWords);
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &YamlEntry::key);
  return found == entries.end() ? nullptr : &found->value;
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
  TreeBuilder builder;
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) continue;
    return builder.take();
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
