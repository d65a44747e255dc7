// Tables of samples: what is read, and each way in which they are refused, with its line.
#include "sim/scenario/sample_table.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

using namespace sim;

namespace {

struct Reading {
  std::optional<calibrate::profile::Measurement> samples;
  std::string errors;
};

Reading read(const std::string& text) {
  const auto file = std::filesystem::temp_directory_path() / "maquette_samples.csv";
  std::ofstream(file) << text;
  Diagnostics diagnostics;
  Reading reading;
  reading.samples = scenario::read_sample_table(file, diagnostics);
  reading.errors = diagnostics.text();
  const std::string name = file.generic_string();
  for (std::size_t at; (at = reading.errors.find(name)) != std::string::npos;) {
    reading.errors.replace(at, name.size(), "samples.csv");
  }
  std::filesystem::remove(file);
  return reading;
}

std::string complaint(const std::string& row) {
  return read("op,shape,time [us]\n" + row + "\n").errors;
}

}  // namespace

TEST_CASE("samples: product, stream and collective in base units; equal shapes join") {
  const Reading reading = read(
      "# by a script\nop,shape,note,time [ms]\n"
      "gemm bf16 forward,4096 x 8192 x 1024,a,0.5\n"
      "memory copy,64 MiB,b,2\n"
      "all_reduce,8 x 1 MiB,c,0.03\n"
      "memory copy,64 MiB,d,3\n");
  REQUIRE(reading.samples);
  const auto& cases = reading.samples->cases;
  REQUIRE(cases.size() == 3);
  CHECK(cases[0].operation == "bf16 forward");
  CHECK(cases[0].shape == std::vector<double>{4096, 8192, 1024});
  CHECK(std::abs(cases[0].seconds[0] - 5e-4) < 1e-18);
  CHECK(cases[1].shape == std::vector<double>{67108864});
  CHECK(cases[1].seconds.size() == 2);
  CHECK(cases[2].family == "collective");
  CHECK(cases[2].shape == std::vector<double>{8, 1048576});
}

TEST_CASE("samples: a time without a unit, or of an unknown one, is refused") {
  CHECK(read("op,shape,time\nmemory copy,1 MiB,5\n").errors ==
        "samples.csv:1:10: error: unknown unit in the column 'time'\n"
        "op,shape,time\n"
        "         ^~~~\n"
        "  why:  a time without its unit may be off by a factor of a thousand\n"
        "  hint: write 'time [us]', or [s], [ms], [ns]\n");
  CHECK(read("op,shape\n").errors.find("the first line does not name the columns") !=
        std::string::npos);
}

TEST_CASE("samples: zero and missing times, wrong shapes and unknown operations, by line") {
  CHECK(complaint("memory copy,1 MiB,0") ==
        "samples.csv:2:19: error: '0' is no time\n"
        "memory copy,1 MiB,0\n"
        "                  ^\n"
        "  why:  a number above 0 is needed\n"
        "  hint: take the row out, or repeat the test\n");
  CHECK(complaint("memory copy,1 MiB,XXX.XX").find(":2:19: error: 'XXX.XX' is no time") !=
        std::string::npos);
  CHECK(complaint("memory copy,1 MiB,nan").find("'nan' is no time") != std::string::npos);
  CHECK(complaint("memory copy,1 Mb,3").find(":2:13: error: '1 Mb' is no size") !=
        std::string::npos);
  CHECK(complaint("all_reduce,1 x 1 MiB,3").find("at least two ranks") != std::string::npos);
  CHECK(complaint("gemm bf16 forward,1024 x 1024,3").find("is no shape of a product") !=
        std::string::npos);
  CHECK(complaint("gemm bf17 forward,8 x 8 x 8,3").find("unknown product 'gemm bf17 forward'") !=
        std::string::npos);
  CHECK(complaint("reduce,8 x 1 MiB,3").find("unknown op 'reduce'") != std::string::npos);
  CHECK(complaint("memory copy,1 MiB").find("2 values, 3 are needed") != std::string::npos);
  CHECK(read("op,shape,time [us]\n").errors.find("no row of a sample") != std::string::npos);
}
