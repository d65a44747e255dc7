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

TEST_CASE("samples: layouts, attention, sustained products, transfers; facts of where") {
  const Reading reading = read(
      "op,shape,time [us],clock\n# fact device: a GPU\n# a remark\n"
      "gemm bf16 weight gradient,16 x 32 x 64,2,1980\nsustained fp8 forward,16 x 32 x 64,3,1200\n"
      "attention cudnn backward full,2 x 8 x 4 x 512 x 128,4,0\n"
      "grouped bf16 forward,2 x 8 x 4 x 16,5,0\ntransfer h2d pinned,1 MiB,6,0\n"
      "launch graph,1,7,0\n");
  CHECK(reading.errors == "");
  const auto& rows = *reading.samples;
  REQUIRE(rows.cases.size() == 6);
  CHECK(rows.cases[0].operation == "bf16 weight gradient");
  CHECK(rows.cases[1].family == "sustained");
  CHECK(rows.cases[2].shape == std::vector<double>{2, 8, 4, 512, 128});
  CHECK(rows.cases[2].operation == "cudnn backward full");
  CHECK(rows.cases[3].shape.size() == 4);
  CHECK(rows.cases[4].shape == std::vector<double>{1048576});
  REQUIRE(rows.environment.size() == 1);
  CHECK(rows.environment[0].name == "device");
  CHECK(rows.environment[0].value == "a GPU");
}

TEST_CASE("samples: attention of no known kernel, direction or shape") {
  CHECK(complaint("attention flash9 forward,2 x 8 x 8 x 512 x 128,3")
            .find("unknown attention 'attention flash9 forward'") != std::string::npos);
  CHECK(complaint("attention flash3 sideways,2 x 8 x 8 x 512 x 128,3").find("unknown attention") !=
        std::string::npos);
  CHECK(complaint("attention flash3 forward,512 x 128,3") ==
        "samples.csv:2:26: error: '512 x 128' is no shape of attention\n"
        "attention flash3 forward,512 x 128,3\n"
        "                         ^~~~~~~~~\n"
        "  why:  whole numbers are needed: sequences, heads, key heads, length and size of a head\n"
        "  hint: write 2 x 32 x 8 x 4096 x 128\n");
  CHECK(complaint("gemm bf16 sideways,8 x 8 x 8,3").find("unknown product") != std::string::npos);
}
