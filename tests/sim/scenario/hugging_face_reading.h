// Reads texts as if they were files of Hugging Face.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sim/scenario/hugging_face.h"

namespace sim::scenario {

struct HuggingFaceReading {
  std::optional<dnn::Transformer> dnn;
  std::string text;  // of the diagnostics
  std::vector<Diagnostic> list;
};

inline HuggingFaceReading read_config_file(const std::filesystem::path& file) {
  Diagnostics diagnostics;
  HuggingFaceReading result;
  result.dnn = read_hugging_face(file, diagnostics);
  result.text = diagnostics.text();
  result.list = diagnostics.sorted();
  return result;
}

// A folder of this process, gone at its end.
struct ConfigScratch {
  ConfigScratch() { std::filesystem::create_directories(folder); }
  ~ConfigScratch() {
    std::error_code status;
    std::filesystem::remove_all(folder.parent_path(), status);
  }
  std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                 ("maquette-test-" + std::to_string(getpid())) / "some-dnn";
};

inline HuggingFaceReading read_config_as(const std::string& name, const std::string& text) {
  static const ConfigScratch scratch;
  const std::filesystem::path file = scratch.folder / name;
  std::ofstream(file, std::ios::binary) << text;
  return read_config_file(file);
}

inline HuggingFaceReading read_config(const std::string& text) {
  return read_config_as("config.json", text);
}

}  // namespace sim::scenario
