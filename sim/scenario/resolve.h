// A value that may be a catalog name, a file, or written out, and may change another entry.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "sim/scenario/section.h"

namespace sim::scenario {

enum class Naming {
  text,         // "h100-sxm", or a map
  text_or_name  // also {name: llama-3.1-8b}, where the name is the only key
};

// Follows names, files and `base:` to a map of fields. `kind`: folder of the catalog. Returns
// nothing after reporting why.
std::optional<Value> resolved(Reader& reader, const Value& value, const std::string& path,
                              const std::string& kind, Naming naming);

template <class T>
Kind<T> catalog_kind(const std::string& kind, const std::string& noun, Section<T> section,
                     Naming naming) {
  const auto shared = std::make_shared<const Section<T>>(std::move(section));
  return {[noun, shared, naming] {
            const std::string base = fmt::format("the {} whose other fields are taken", noun);
            return fmt::format(
                "{{\"anyOf\":[{{\"description\":\"name in the catalog, or a file\",\"type\":"
                "\"string\"}},{}{}]}}",
                naming == Naming::text_or_name
                    ? "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},"
                      "\"required\":[\"name\"],\"additionalProperties\":false},"
                    : "",
                shared->schema(base));
          },
          [kind, shared, naming](Reader& reader, const Value& value,
                                 const std::string& path) -> std::optional<T> {
            const auto map = resolved(reader, value, path, kind, naming);
            if (!map) return std::nullopt;
            return shared->whole(reader, *map, path);
          }};
}

}  // namespace sim::scenario
