// Profile files: nothing is lost on the way to a file and back; a damaged file is refused.
#include <doctest/doctest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

#include "calibrate/profile/hdf5_handle.h"
#include "calibrate/profile/seal.h"
#include "tests/calibrate/profile/sample_data.h"

using namespace calibrate::profile;

namespace {

std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::temp_directory_path() / ("maquette_profile_test_" + name);
}

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::string sealed(const std::string& text) {
  return seal_of(std::as_bytes(std::span(text))) + text;
}

// What reading `text` as a profile complains about; empty when it reads.
std::string complaint(const std::string& text) {
  const auto file = scratch("damaged.h5");
  write(file, text);
  std::string why;
  try {
    read_profile_data(file);
  } catch (const ProfileError& error) {
    CHECK(error.message.find(file.string()) != std::string::npos);
    why = error.why.empty() ? "no reason given" : error.why;
  }
  std::filesystem::remove(file);
  return why;
}

std::string plain_file() {
  const auto file = scratch("plain.h5");
  write_profile(file, plain_data());
  std::string text = contents(file);
  std::filesystem::remove(file);
  return text;
}

}  // namespace

TEST_CASE("a profile survives the file to the last bit") {
  ProfileData data = plain_data();
  data.gemm.front().tile.launch = 0x1.fffffffffffffp-20;  // every bit of the fraction set
  data.gemm.front().residual.points = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0 / 3};
  data.gemm.front().residual.weights = {-1e-300};
  data.network.step_inter = Seconds(1.0 / 3 * 1e-5);
  data.network.channels = 24;
  const auto file = scratch("trip.h5"), again = scratch("again.h5");
  write_profile(file, data);
  const ProfileData back = read_profile_data(file);
  CHECK(back.gemm.front().tile.launch == data.gemm.front().tile.launch);
  CHECK(back.gemm.front().residual.points == data.gemm.front().residual.points);
  CHECK(back.gemm.front().residual.weights == data.gemm.front().residual.weights);
  CHECK(back.gemm.front().tile.factor == data.gemm.front().tile.factor);
  CHECK(back.network.step_inter == data.network.step_inter);
  CHECK(back.network.channels == 24);
  CHECK(back.sources == data.sources);
  CHECK(back.kernels.back().factor.source == "assumed");
  CHECK(back.collectives.front().curves.back().log_seconds ==
        data.collectives.front().curves.back().log_seconds);
  CHECK(back.reports.front().bias == data.reports.front().bias);
  // The fields not named above: the same contents give the same file.
  write_profile(again, back);
  CHECK(contents(file) == contents(again));
  std::filesystem::remove(file);
  std::filesystem::remove(again);
}

TEST_CASE("a profile can be read beside files of any name") {
  const auto before = std::filesystem::current_path(), folder = scratch("names");
  std::filesystem::create_directories(folder / "profile");
  std::filesystem::current_path(folder);
  const std::string why = complaint(plain_file());
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
  CHECK(why.empty());
}

TEST_CASE("a file that ends early is refused, wherever it ends") {
  const std::string whole = plain_file();
  REQUIRE(complaint(whole).empty());
  for (std::size_t length = 0; length < whole.size(); length += 331) {
    CAPTURE(length);
    CHECK_FALSE(complaint(whole.substr(0, length)).empty());
  }
  CHECK_FALSE(complaint(whole.substr(0, whole.size() - 1)).empty());
  CHECK_FALSE(complaint(whole + "x").empty());
}

TEST_CASE("a file with one changed byte is refused, whichever it is") {
  const std::string whole = plain_file();
  for (std::size_t i = 0; i < whole.size(); i += (i < seal_size ? 7 : 397)) {
    CAPTURE(i);
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    CHECK_FALSE(complaint(damaged).empty());
  }
}

TEST_CASE("files that are something else are refused with a reason") {
  CHECK(complaint("") == "it does not start like a profile of this program");
  CHECK(complaint("time,bytes\n1,2\n") == "it does not start like a profile of this program");
  const std::string whole = plain_file();
  CHECK(complaint(whole.substr(seal_size)) == "it does not start like a profile of this program");
  CHECK(complaint("maquette profile 1\n" + whole) ==
        "its format is that of another version of this program");
  CHECK(complaint(sealed("no HDF5 at all")) == "its contents are not HDF5");
  CHECK_THROWS_AS(read_profile_data(scratch("nowhere.h5")), ProfileError);
  CHECK_THROWS_AS(read_profile_data(std::filesystem::temp_directory_path()), ProfileError);
}

TEST_CASE("an HDF5 file of other contents is refused with the first thing it lacks") {
  const auto file = scratch("foreign.h5");
  {
    const Hdf5Silence silence;
    const Hdf5File foreign(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    REQUIRE(foreign.is_open());
  }
  CHECK(complaint(sealed(contents(file))) == "it has no table 'numbers'");
  std::filesystem::remove(file);
}

TEST_CASE("a profile of another device is refused") {
  const auto file = scratch("other.h5");
  write_profile(file, plain_data());
  DeviceType device = round_device();
  CHECK(read_profile(file, device)->device().name == "round");
  device.name = "square";
  CHECK_THROWS_AS(read_profile(file, device), ProfileError);
  std::filesystem::remove(file);
}

TEST_CASE("contents that cannot be are refused before they are written") {
  const auto file = scratch("never.h5");
  ProfileData data = plain_data();
  data.memory.curve.memory = 0;
  CHECK_THROWS_AS(write_profile(file, data), ProfileError);
  data = plain_data();
  data.gemm.front().tile.launch = NAN;
  CHECK_THROWS_AS(write_profile(file, data), ProfileError);
  data = plain_data();
  data.gemm.front().residual.weights = {1};  // without its point
  CHECK_THROWS_AS(write_profile(file, data), ProfileError);
  data = plain_data();
  data.kernels.clear();  // flash3 has no answer
  CHECK_THROWS_AS(write_profile(file, data), ProfileError);
  CHECK_FALSE(std::filesystem::exists(file));
}
