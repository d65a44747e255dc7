// The messages that all sections share, each made in one place.
#include "sim/scenario/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario/document.h"
#include "sim/scenario/encoding.h"

namespace sim::scenario {
namespace {

std::string in(const std::string& path) { return path.empty() ? "the scenario" : path; }

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  return near ? fmt::format("did you mean '{}'?", *near) : "";
}

std::string nearest_words(const std::string& word, const std::vector<std::string>& known) {
  const auto words = nearest_first(word, known);
  constexpr std::size_t shown = 30;
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(std::min(words.size(), shown));
  return fmt::format(
      "{}{}", fmt::join(words.begin(), end, ", "),
      words.size() > shown ? fmt::format(", and {} more", words.size() - shown) : "");
}

// Defaults inside lists are told by the schema; in a list of defaults they would hide the others.
bool is_inside_list(const std::string& path) {
  for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1)) {
    if (dot + 1 < path.size() && path[dot + 1] >= '0' && path[dot + 1] <= '9') return true;
  }
  return false;
}

}  // namespace

void Reader::error(const std::string& path, const Place& place, std::string message,
                   std::string why, std::string hint) {
  mark_bad(path);
  diagnostics_.error(place, std::move(message), std::move(why), std::move(hint));
}

void Reader::mark_bad(const std::string& path) {
  bad_paths_.insert(path);
  ++error_count_;
}

void Reader::warning(const Place& place, std::string message, std::string why, std::string hint) {
  diagnostics_.warning(place, std::move(message), std::move(why), std::move(hint));
}

bool Reader::is_clean(const std::string& path) const {
  if (path.empty()) return bad_paths_.empty();
  if (bad_paths_.contains(path)) return false;
  const auto below = bad_paths_.lower_bound(path + ".");
  return below == bad_paths_.end() || below->rfind(path + ".", 0) != 0;
}

void Reader::add_place(const std::string& path, const Place& place) { places_[path] = place; }

Place Reader::place(const std::string& path) const { return nearest_place(places_, path); }

void Reader::add_default(const Value& section, const std::string& path, const std::string& text) {
  if (is_inside_list(path)) return;
  const std::string file = section.file ? *section.file : "";
  if (std::find(listed_files_.begin(), listed_files_.end(), file) == listed_files_.end()) return;
  defaults_.push_back(fmt::format("{}: {}", path, text));
}

void Reader::drop_default(const std::string& path) {
  std::erase_if(defaults_, [&](const std::string& line) { return line.starts_with(path + ": "); });
}

void Reader::add_derived(const std::string& path, const std::string& text) {
  defaults_.push_back(fmt::format("{}: {}", path, text));
}

std::optional<std::filesystem::path> Reader::file_named(const Value& name) const {
  const std::filesystem::path file = name.text;
  const std::filesystem::path written_in = name.file ? *name.file : "";
  std::vector<std::filesystem::path> folders = {written_in.parent_path(), folder_, catalog_};
  if (written_in.string().rfind("--set ", 0) == 0) folders.erase(folders.begin());
  for (const std::filesystem::path& folder : folders) {
    std::error_code status;
    const auto found = folder / file;
    if (std::filesystem::exists(found, status)) return found.lexically_normal();
  }
  return std::nullopt;
}

std::optional<Value> Reader::document(const std::filesystem::path& file, const Place& place) {
  const std::string key = file.generic_string();
  auto found = documents_.find(key);
  if (found == documents_.end()) {
    found = documents_.emplace(key, read_document(file, place, diagnostics_)).first;
  }
  return found->second;
}

Place nearest_place(const std::map<std::string, Place>& places, const std::string& path) {
  for (std::string at = path;;) {
    if (const auto found = places.find(at); found != places.end()) return found->second;
    if (at.empty()) return {};
    const std::size_t dot = at.rfind('.');
    at = dot == std::string::npos ? "" : at.substr(0, dot);
  }
}

std::string joined_path(const std::string& parent, const std::string& key) {
  return parent.empty() ? key : parent + "." + key;
}

void report_missing(Reader& reader, const Value& section, const std::string& path,
                    const std::string& key, const std::string& doc) {
  reader.error(joined_path(path, key), section.name_place(),
               fmt::format("missing key '{}' in {}", key, in(path)), "", key + ": " + doc);
}

void report_unknown_key(Reader& reader, const Entry& entry, const std::string& path,
                        const std::vector<std::string>& known) {
  const std::string key = shown(entry.key);
  reader.error(joined_path(path, key), entry.key_place(),
               fmt::format("unknown key '{}' in {}", key, in(path)),
               fmt::format("{} has {}", in(path), nearest_words(key, known)),
               did_you_mean(key, known));
}

void report_unknown_word(Reader& reader, const Value& value, const std::string& path,
                         const std::string& noun, const std::vector<std::string>& known) {
  const std::string word = shown(value.text);
  reader.error(path, value.place(), fmt::format("unknown {} '{}' for {}", noun, word, path),
               known.empty() ? "none is known" : "known: " + nearest_words(word, known),
               did_you_mean(word, known));
}

void report_unsupported(Reader& reader, const Place& place, const std::string& path,
                        const std::string& what, const std::string& hint) {
  reader.error(path, place, fmt::format("{} is not supported yet", what), "", hint);
}

void report_shape(Reader& reader, const Value& value, const std::string& path,
                  const std::string& wanted, const std::string& hint) {
  if (value.kind == Value::Kind::nothing) {
    reader.error(path, value.place(), fmt::format("no value for {}", in(path)), "",
                 hint.empty() ? fmt::format("write {}, or leave the key out", wanted) : hint);
    return;
  }
  reader.error(path, value.place(),
               fmt::format("{} for {} is not {}", described(value), in(path), wanted), "", hint);
}

}  // namespace sim::scenario
