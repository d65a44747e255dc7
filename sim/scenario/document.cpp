// A tree of values from the events of the YAML parser, so that its size is bounded while it grows.
#include "sim/scenario/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "sim/scenario/encoding.h"

namespace sim::scenario {
namespace {

struct Refusal {
  Spot spot;
  std::string message, why, hint;
};

// Marks of the parser (0-based, in bytes) -> spots (1-based, in characters).
class Spots {
 public:
  Spots(const std::string& text, std::size_t prefix) : text_(text), prefix_(prefix) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '\n') begins_.push_back(at + 1);
    }
  }

  std::string_view rest_of_line(const YAML::Mark& mark) const {
    const std::size_t begin = offset(mark);
    const std::size_t next = line(mark) + 1;
    const std::size_t end = next < begins_.size() ? begins_[next] - 1 : text_.size();
    return std::string_view(text_).substr(begin, end - begin);
  }

  Spot spot(const YAML::Mark& mark, std::size_t length) {
    if (mark.is_null() || mark.line < 0) return {1, 1, 1};
    const std::size_t at = offset(mark);
    const std::size_t begin = begins_[line(mark)];
    // Events mostly come in order, so counting continues where it stopped.
    if (begin != counted_line_ || at < counted_to_) {
      counted_line_ = counted_to_ = begin;
      counted_ = 0;
    }
    counted_ += character_count(std::string_view(text_).substr(counted_to_, at - counted_to_));
    counted_to_ = at;
    return {static_cast<int>(line(mark)) + 1, static_cast<int>(counted_) + 1,
            std::max(static_cast<int>(length), 1)};
  }

 private:
  std::size_t line(const YAML::Mark& mark) const {
    return std::min(static_cast<std::size_t>(std::max(mark.line, 0)), begins_.size() - 1);
  }
  std::size_t offset(const YAML::Mark& mark) const {
    const std::size_t before = mark.line == 0 ? prefix_ : 0;
    const auto column = static_cast<std::size_t>(std::max(mark.column, 0));
    return std::min(begins_[line(mark)] + before + column, text_.size());
  }

  const std::string& text_;
  std::size_t prefix_;
  std::vector<std::size_t> begins_ = {0};  // of each line
  std::size_t counted_line_ = 0, counted_to_ = 0, counted_ = 0;
};

// Characters of a scalar on its first line.
std::size_t scalar_length(std::string_view rest, const std::string& text, bool is_quoted) {
  if (!is_quoted) {
    if (rest.substr(0, text.size()) == text) return character_count(text);
    const std::size_t comment = rest.find(" #");
    std::string_view shown = rest.substr(0, comment);
    while (!shown.empty() && (shown.back() == ' ' || shown.back() == '\r')) shown.remove_suffix(1);
    return character_count(shown);
  }
  if (rest.empty() || (rest[0] != '"' && rest[0] != '\'')) return 1;  // a block scalar
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] == '\\' && rest[0] == '"') {
      ++at;
    } else if (rest[at] == rest[0]) {
      return character_count(rest.substr(0, at + 1));
    }
  }
  return 1;
}

class Builder : public YAML::EventHandler {
 public:
  Builder(const std::string& name, Spots& spots, Diagnostics& diagnostics)
      : file_(std::make_shared<const std::string>(name)),
        spots_(spots),
        diagnostics_(diagnostics) {}

  bool has_document() const { return has_root_; }
  Value take() { return std::move(root_); }
  std::size_t documents() const { return documents_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      throw Refusal{spots_.spot(mark, 3), "a second document begins here",
                    "one file holds one document", ""};
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Value value = begin(Value::Kind::nothing, mark, 1);
    finish(std::move(value), anchor, 1);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      throw Refusal{spots_.spot(mark, 1), "an alias inside the value it stands for", "", ""};
    }
    count(found->second.second, mark);
    if (stack_.size() + depth(found->second.first) > depth_max) refuse_depth(mark);
    finish(found->second.first, 0, found->second.second);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    refuse_tag(mark, tag);
    if (first_unreadable(text)) {
      throw Refusal{spots_.spot(mark, 1), "an escape that stands for a control character", "", ""};
    }
    Value value =
        begin(Value::Kind::text, mark, scalar_length(spots_.rest_of_line(mark), text, tag == "!"));
    value.text = text;
    value.is_quoted = tag == "!";
    finish(std::move(value), anchor, 1);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Value::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Value::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Value value;
    YAML::anchor_t anchor = 0;
    std::size_t first_value = 0;   // values counted before this one
    std::optional<Entry> pending;  // a key that waits for its value
    bool is_duplicate = false;
    std::map<std::string, Spot> keys;
  };

  static std::size_t depth(const Value& value) {
    std::size_t deepest = 0;
    for (const Value& item : value.items) deepest = std::max(deepest, depth(item));
    for (const Entry& entry : value.entries) deepest = std::max(deepest, depth(entry.value));
    return deepest + 1;
  }

  [[noreturn]] void refuse_depth(const YAML::Mark& mark) {
    throw Refusal{spots_.spot(mark, 1),
                  fmt::format("more than {} values inside each other", depth_max), "", ""};
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    throw Refusal{spots_.spot(mark, 1), "tags such as '!!str' are not part of the format", "",
                  "leave the tag out"};
  }
  void count(std::size_t values, const YAML::Mark& mark) {
    values_ += values;
    if (values_ <= values_max) return;
    throw Refusal{spots_.spot(mark, 1), fmt::format("more than {} values in one file", values_max),
                  "", ""};
  }
  Value begin(Value::Kind kind, const YAML::Mark& mark, std::size_t length) {
    count(1, mark);
    Value value;
    value.kind = kind;
    value.file = file_;
    value.spot = value.named_at = spots_.spot(mark, length);
    return value;
  }
  void open(Value::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    refuse_tag(mark, tag);
    if (stack_.size() >= depth_max) refuse_depth(mark);
    const std::size_t before = values_;
    stack_.push_back({begin(kind, mark, 1), anchor, before, std::nullopt, false, {}});
  }
  void close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    finish(std::move(frame.value), frame.anchor, values_ - frame.first_value);
  }
  void finish(Value value, YAML::anchor_t anchor, std::size_t size) {
    if (anchor != 0) anchors_[anchor] = {value, size};
    if (stack_.empty()) {
      root_ = std::move(value);
      has_root_ = true;
    } else if (stack_.back().value.kind == Value::Kind::list) {
      value.named_at = value.spot;
      stack_.back().value.items.push_back(std::move(value));
    } else {
      add_to_map(stack_.back(), std::move(value));
    }
  }
  void add_to_map(Frame& map, Value value) {
    if (!map.pending) {
      if (value.kind != Value::Kind::text) {
        throw Refusal{value.spot, fmt::format("{} where a key must stand", described(value)),
                      "a key is text", ""};
      }
      if (value.text.empty() || value.text.find('\n') != std::string::npos) {
        throw Refusal{value.spot, "a key that is not one line of text", "", ""};
      }
      const auto [known, is_new] = map.keys.emplace(value.text, value.spot);
      map.is_duplicate = !is_new;
      if (!is_new) {
        diagnostics_.error(value.place(), fmt::format("key '{}' appears twice", shown(value.text)),
                           fmt::format("the first is in line {}", known->second.line),
                           "keep one of them");
      }
      map.pending = Entry{value.text, value.spot, value.file, {}};
      return;
    }
    value.named_at = map.pending->key_spot;
    if (value.kind == Value::Kind::nothing) value.spot = value.named_at;
    map.pending->value = std::move(value);
    if (!map.is_duplicate) map.value.entries.push_back(std::move(*map.pending));
    map.pending.reset();
  }

  std::shared_ptr<const std::string> file_;
  Spots& spots_;
  Diagnostics& diagnostics_;
  Value root_;
  bool has_root_ = false;
  std::size_t documents_ = 0, values_ = 0;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, std::pair<Value, std::size_t>> anchors_;
};

// What usually causes a message of the YAML parser.
std::string syntax_hint(const std::string& message, std::string_view line) {
  if (line.find('\t') != std::string_view::npos)
    return "indent with spaces; YAML allows no tabs there";
  if (message.find("illegal map value") != std::string::npos) {
    return "check the indentation, and quote a text that holds ': '";
  }
  if (message.find("end of map") != std::string::npos ||
      message.find("end of sequence") != std::string::npos) {
    return "check the indentation, and that every '{' and '[' is closed";
  }
  if (message.find("anchor") != std::string::npos || message.find("alias") != std::string::npos) {
    return "quote a text that begins with '*' or '&'";
  }
  return "";
}

std::string first_line_of(const std::string& text, int line) {
  std::istringstream lines(text);
  std::string one;
  for (int i = 0; i < line && std::getline(lines, one); ++i) {
  }
  return one;
}

bool report_unreadable(const std::string& name, const std::string& text, Diagnostics& diagnostics) {
  const auto bad = first_unreadable(text);
  if (!bad) return false;
  const std::size_t begin =
      text.rfind('\n', *bad) == std::string::npos || *bad == 0 ? 0 : text.rfind('\n', *bad) + 1;
  const auto line =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*bad), '\n');
  const Place place = {name, static_cast<int>(line) + 1,
                       static_cast<int>(character_count(text.substr(begin, *bad - begin))) + 1, 1};
  diagnostics.error(place,
                    fmt::format("byte 0x{:02x} is no text", static_cast<unsigned char>(text[*bad])),
                    "input files are UTF-8 without control characters", "");
  return true;
}

}  // namespace

std::optional<Value> parse_document(const std::string& name, const std::string& text,
                                    Diagnostics& diagnostics, std::size_t prefix) {
  if (report_unreadable(name, text, diagnostics)) return std::nullopt;
  Spots spots(text, prefix);
  Builder builder(name, spots, diagnostics);
  const auto refuse = [&](const Spot& spot, const std::string& message, const std::string& why,
                          const std::string& hint) {
    diagnostics.error({name, spot.line, spot.column, spot.length}, message, why, hint);
    return std::nullopt;
  };
  try {
    std::istringstream stream(text.substr(prefix));
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    return refuse(refusal.spot, refusal.message, refusal.why, refusal.hint);
  } catch (const YAML::Exception& error) {
    const Spot spot = spots.spot(error.mark, 1);
    return refuse(spot, "not YAML: " + error.msg, "",
                  syntax_hint(error.msg, first_line_of(text, spot.line)));
  }
  if (!builder.has_document()) {
    Value nothing;
    nothing.file = std::make_shared<const std::string>(name);
    return nothing;
  }
  return builder.take();
}

}  // namespace sim::scenario
