// What reading a section needs beside the value: where errors, defaults and places go.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/base/diagnostics.h"
#include "sim/scenario/tree.h"

namespace sim::scenario {

class Reader {
 public:
  // `folder`: of the scenario, where what an option names is looked for.
  Reader(Diagnostics& diagnostics, std::filesystem::path catalog, std::filesystem::path folder)
      : diagnostics_(diagnostics), catalog_(std::move(catalog)), folder_(std::move(folder)) {}

  // Reports what is wrong at a path ("plan.tensor"), and remembers that the path is.
  void error(const std::string& path, const Place& place, std::string message, std::string why = "",
             std::string hint = "");
  void warning(const Place& place, std::string message, std::string why = "",
               std::string hint = "");
  // Whether nothing was wrong at this path and below it.
  bool is_clean(const std::string& path) const;
  std::size_t error_count() const { return error_count_; }
  void mark_bad(const std::string& path);

  void add_place(const std::string& path, const Place& place);
  // The place of a path or of its nearest parent.
  Place place(const std::string& path) const;
  bool is_given(const std::string& path) const { return places_.contains(path); }

  // Notes a default taken. Those of a catalog entry are the catalog's matter, not the scenario's.
  void add_default(const Value& section, const std::string& path, const std::string& text);
  // Takes a default back that something else replaces.
  void drop_default(const std::string& path);
  // What followed from the rest of the scenario.
  void add_derived(const std::string& path, const std::string& text);
  void list_defaults_of(const std::string& file) { listed_files_.push_back(file); }

  // The file a text names: relative to the file it stands in, then to the catalog.
  std::optional<std::filesystem::path> file_named(const Value& name) const;
  // A file as a tree, each read once.
  std::optional<Value> document(const std::filesystem::path& file, const Place& place);

  Diagnostics& diagnostics() { return diagnostics_; }
  const std::filesystem::path& catalog() const { return catalog_; }
  const std::vector<std::string>& defaults() const { return defaults_; }
  const std::map<std::string, Place>& places() const { return places_; }

 private:
  Diagnostics& diagnostics_;
  std::filesystem::path catalog_, folder_;
  std::map<std::string, std::optional<Value>> documents_;
  std::set<std::string> bad_paths_;
  std::size_t error_count_ = 0;
  std::vector<std::string> defaults_, listed_files_;
  std::map<std::string, Place> places_;
};

Place nearest_place(const std::map<std::string, Place>& places, const std::string& path);
std::string joined_path(const std::string& parent, const std::string& key);

// Messages that several kinds share; each is made here only.
void report_missing(Reader& reader, const Value& section, const std::string& path,
                    const std::string& key, const std::string& doc);
void report_unknown_key(Reader& reader, const Entry& entry, const std::string& path,
                        const std::vector<std::string>& known);
void report_unknown_word(Reader& reader, const Value& value, const std::string& path,
                         const std::string& noun, const std::vector<std::string>& known);
void report_unsupported(Reader& reader, const Place& place, const std::string& path,
                        const std::string& what, const std::string& hint = "");
// A value of the wrong shape: "a list for plan.tensor is not a whole number".
void report_shape(Reader& reader, const Value& value, const std::string& path,
                  const std::string& wanted, const std::string& hint = "");

}  // namespace sim::scenario
