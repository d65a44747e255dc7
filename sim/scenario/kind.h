// How a value is written: read it, and describe it for the JSON Schema, from one definition.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/quantity.h"
#include "sim/base/units.h"
#include "sim/scenario/json_text.h"
#include "sim/scenario/reader.h"

namespace sim::scenario {

// Makes a JSON Schema object, compact. Reading never asks for it.
using Schema = std::function<std::string()>;

template <class T>
struct Kind {
  Schema schema;
  // Returns nothing after reporting why.
  std::function<std::optional<T>(Reader&, const Value&, const std::string& path)> read;
};

// A whole number, plain.
Kind<std::int64_t> count(std::int64_t least, std::int64_t most);
Kind<int> small_count(int least, int most = 1'000'000);
// A plain decimal number, such as a ratio.
Kind<double> number(double least, double most);
Kind<bool> flag();
// Any text in one line.
Kind<std::string> text();

enum class Zero { allowed, refused };
// A value with its unit, in base units.
Kind<double> measure(Dimension dimension, Zero zero = Zero::allowed, double most = 1e300);

namespace kinds {
std::optional<double> read_measure(Reader& reader, const Value& value, const std::string& path,
                                   Dimension dimension, Zero zero, double most);
}  // namespace kinds

template <class T, class From, class Convert>
Kind<T> converted(Kind<From> kind, Convert convert) {
  return {kind.schema,
          [read = kind.read, convert](Reader& reader, const Value& value,
                                      const std::string& path) -> std::optional<T> {
            const auto found = read(reader, value, path);
            if (!found) return std::nullopt;
            return convert(*found);
          }};
}

// Durations are below the 106 days the engine can count.
inline Kind<Seconds> duration(Zero zero = Zero::allowed) {
  return converted<Seconds>(measure(Dimension::time, zero, 100 * 86400.0),
                            [](double value) { return Seconds(value); });
}
inline Kind<Bytes> size(Zero zero = Zero::allowed) {
  return converted<Bytes>(measure(Dimension::bytes, zero, 1e18),
                          [](double value) { return Bytes(value); });
}
// Rates are below the 17 TB/s the engine can count.
inline Kind<BytesPerSecond> byte_rate(Zero zero = Zero::refused) {
  return converted<BytesPerSecond>(measure(Dimension::byte_rate, zero, 16e12),
                                   [](double value) { return BytesPerSecond(value); });
}
// A share of something, "77 %".
inline Kind<double> share(Zero zero = Zero::allowed, double most = 1) {
  return measure(Dimension::percent, zero, most);
}

// One word of a list. A word that stands for nothing is known, but not supported yet.
template <class E>
struct Word {
  std::string text;
  std::optional<E> meaning;
};
template <class E>
Kind<E> word(const std::string& noun, std::vector<Word<E>> words) {
  std::vector<std::string> known;
  for (const Word<E>& one : words) {
    if (one.meaning) known.push_back(one.text);
  }
  return {[known] {
            std::vector<std::string> quoted;
            for (const std::string& one : known) quoted.push_back(json_quoted(one));
            return fmt::format("{{\"enum\":[{}]}}", fmt::join(quoted, ","));
          },
          [noun, words, known](Reader& reader, const Value& value,
                               const std::string& path) -> std::optional<E> {
            if (value.kind != Value::Kind::text) {
              report_shape(reader, value, path, fmt::format("one of {}", fmt::join(known, ", ")));
              return std::nullopt;
            }
            for (const Word<E>& one : words) {
              if (one.text != value.text) continue;
              if (one.meaning) return one.meaning;
              report_unsupported(reader, value.place(), path,
                                 fmt::format("'{}' for {}", one.text, path),
                                 fmt::format("supported: {}", fmt::join(known, ", ")));
              return std::nullopt;
            }
            report_unknown_word(reader, value, path, noun, known);
            return std::nullopt;
          }};
}

template <class T>
Kind<std::vector<T>> list(Kind<T> item, std::size_t least = 0) {
  return {[least, schema = item.schema] {
            return fmt::format("{{\"type\":\"array\",\"minItems\":{},\"items\":{}}}", least,
                               schema());
          },
          [read = item.read, least](Reader& reader, const Value& value,
                                    const std::string& path) -> std::optional<std::vector<T>> {
            if (value.kind != Value::Kind::list) {
              report_shape(reader, value, path, "a list");
              return std::nullopt;
            }
            if (value.items.size() < least) {
              reader.error(path, value.name_place(), fmt::format("an empty list for {}", path));
              return std::nullopt;
            }
            std::vector<T> result;
            for (std::size_t i = 0; i < value.items.size(); ++i) {
              const std::string item_path = fmt::format("{}.{}", path, i);
              reader.add_place(item_path, value.items[i].blamed());
              auto one = read(reader, value.items[i], item_path);
              if (one) result.push_back(std::move(*one));
            }
            if (result.size() < value.items.size()) return std::nullopt;
            return result;
          }};
}

// A map whose keys are words of a list.
template <class E, class T>
Kind<std::map<E, T>> map_of(const std::string& noun, std::vector<Word<E>> words, Kind<T> item) {
  return {
      [words, schema = item.schema] {
        std::string properties;
        for (const Word<E>& one : words) {
          properties += fmt::format("{}{}:{}", properties.empty() ? "" : ",", json_quoted(one.text),
                                    schema());
        }
        return fmt::format(
            "{{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{{{}}}}}",
            properties);
      },
      [noun, words, read = item.read](Reader& reader, const Value& value,
                                      const std::string& path) -> std::optional<std::map<E, T>> {
        if (value.kind != Value::Kind::map) {
          report_shape(reader, value, path, "a map of keys");
          return std::nullopt;
        }
        std::vector<std::string> known;
        for (const Word<E>& one : words) known.push_back(one.text);
        std::map<E, T> result;
        for (const Entry& entry : value.entries) {
          const std::string entry_path = joined_path(path, entry.key);
          reader.add_place(entry_path, entry.value.blamed());
          bool is_known = false;
          for (const Word<E>& one : words) {
            if (one.text != entry.key) continue;
            is_known = true;
            auto found = read(reader, entry.value, entry_path);
            if (found) result.emplace(*one.meaning, std::move(*found));
          }
          if (!is_known) report_unknown_key(reader, entry, path, known);
        }
        return result;
      }};
}

}  // namespace sim::scenario
