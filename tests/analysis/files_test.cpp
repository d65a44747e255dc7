// What lies on disk afterwards: read back, repeated, refused.
#include <doctest/doctest.h>
#include <hdf5.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <vector>

#include "analysis/gzip.h"
#include "analysis/job_file.h"
#include "analysis/result_file.h"
#include "analysis/trace.h"
#include "calibrate/profile/hdf5_handle.h"
#include "tests/analysis/example_result.h"
#include "tests/approximately.h"

namespace analysis {

namespace {

using calibrate::profile::Hdf5Attribute;
using calibrate::profile::Hdf5Dataset;
using calibrate::profile::Hdf5File;
using calibrate::profile::Hdf5Space;
using calibrate::profile::Hdf5Type;

class Folder {
 public:
  Folder() {
    path_ = std::filesystem::temp_directory_path() / ("analysis_test." + std::to_string(getpid()));
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_),
                                                  std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string unzipped(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, 15 + 16) == Z_OK);
  std::string buffer(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    state = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer, 0, buffer.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  REQUIRE(state == Z_STREAM_END);
  return text;
}

template <class Number>
std::vector<Number> read(hid_t file, const char* path, hid_t native) {
  const Hdf5Dataset set(H5Dopen2(file, path, H5P_DEFAULT));
  REQUIRE(set.is_open());
  const Hdf5Space space(H5Dget_space(set));
  std::vector<Number> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  REQUIRE(H5Dread(set, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  return values;
}

std::string units(hid_t set) {
  const Hdf5Attribute attribute(H5Aopen(set, "units", H5P_DEFAULT));
  if (!attribute.is_open()) return "";
  const Hdf5Type type(H5Aget_type(attribute));
  std::string text(H5Tget_size(type), '\0');
  H5Aread(attribute, type, text.data());
  return text;
}

herr_t note_units(hid_t root, const char* name, const H5O_info_t* info, void* data) {
  if (info->type != H5O_TYPE_DATASET) return 0;
  const Hdf5Dataset set(H5Dopen2(root, name, H5P_DEFAULT));
  (*static_cast<std::map<std::string, std::string>*>(data))[name] = units(set);
  return 0;
}

}  // namespace

TEST_CASE("result file: reads back what was written") {
  const Folder folder;
  write_result(example_result(), folder / "result.h5");
  const Hdf5File file(H5Fopen((folder / "result.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  REQUIRE(file.is_open());
  CHECK(read<std::int64_t>(file, "iteration/duration", H5T_NATIVE_INT64) ==
        example_result().iterations_ps);
  const auto time = read<std::int64_t>(file, "time/duration", H5T_NATIVE_INT64);
  CHECK(time.size() == 13);
  CHECK(std::accumulate(time.begin(), time.end(), std::int64_t{0}) == 1'250'000'000'000);
  CHECK(read<double>(file, "memory/activations", H5T_NATIVE_DOUBLE) ==
        std::vector<double>{10737418240.0, 5368709120.0});
  CHECK(read<std::int64_t>(file, "links/load_first", H5T_NATIVE_INT64) ==
        std::vector<std::int64_t>{0, 2, 2});
  CHECK(read<double>(file, "links/load", H5T_NATIVE_DOUBLE) == std::vector<double>{0.5, 1});
  CHECK(read<std::int64_t>(file, "tracks/0/end", H5T_NATIVE_INT64) ==
        std::vector<std::int64_t>{1'000'000, 3'000'000});
  CHECK(H5Lexists(file, "tracks/3", H5P_DEFAULT) == 0);
}

TEST_CASE("result file: every dataset says its units") {
  const Folder folder;
  write_result(example_result(), folder / "result.h5");
  const Hdf5File file(H5Fopen((folder / "result.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  std::map<std::string, std::string> found;
  H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, note_units, &found);
  CHECK(found.size() > 40);
  for (const auto& [name, unit] : found) {
    CAPTURE(name);
    CHECK(!unit.empty());
  }
  CHECK(found["links/capacity"] == "byte/s");
  CHECK(found["time/duration"] == "ps");
}

TEST_CASE("files: the same result gives the same bytes, processor time aside") {
  const Folder folder;
  auto result = example_result();
  write_result(result, folder / "a.h5");
  write_trace(result, folder / "a.gz");
  const std::vector<std::string> noise(1000, std::string(100, 'x'));  // another heap
  result.cpu_time_s *= 2;
  result.peak_rss_bytes *= 2;
  write_result(result, folder / "b.h5");
  write_trace(result, folder / "b.gz");
  CHECK(bytes_of(folder / "a.h5") == bytes_of(folder / "b.h5"));
  CHECK(bytes_of(folder / "a.gz") == bytes_of(folder / "b.gz"));
  CHECK(folder.files() == 4);  // no drafts left
  result.time_rank = 1;
  write_result(result, folder / "b.h5");
  CHECK(bytes_of(folder / "a.h5") != bytes_of(folder / "b.h5"));
}

TEST_CASE("files: an empty result is written too") {
  const Folder folder;
  write_result({}, folder / "result.h5");
  write_trace({}, folder / "trace.json.gz");
  CHECK(YAML::Load(unzipped(bytes_of(folder / "trace.json.gz")))["traceEvents"].size() == 0);
}

TEST_CASE("files: what cannot be written is named and leaves nothing") {
  const Folder folder;
  const auto missing = folder / "no" / "result.h5";
  CHECK_THROWS_WITH(write_result({}, missing),
                    ("cannot write '" + missing.string() + "': No such file or directory").c_str());
  std::filesystem::create_directories(folder / "taken" / "full");
  CHECK_THROWS(write_trace({}, folder / "taken"));
  CHECK(folder.files() == 1);
}

TEST_CASE("job files: every history and one course") {
  sim::fault::Outlook outlook;
  outlook.policy = "reroute";
  outlook.estimate.columns = {{0.5, 0.75}, {100, 200}, {50, 150}, {1, 2}};
  outlook.model.processes.resize(1);
  outlook.model.processes[0].cause = "gpu";
  outlook.estimate.causes = {{1.5, 30}};
  using sim::fault::Loss;
  outlook.episodes = {{0, 60, true, Loss::rework, 4},
                      {60, 70.5, false, Loss::detect, 4},
                      {70.5, 100, true, Loss::rework, 3}};
  const Folder folder;
  write_result(example_result(), folder / "result.h5", outlook);
  const Hdf5File file(H5Fopen((folder / "result.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  CHECK(read<double>(file, "job/ratio", H5T_NATIVE_DOUBLE) == std::vector<double>{0.5, 0.75});
  CHECK(read<double>(file, "job/cause_lost", H5T_NATIVE_DOUBLE) == std::vector<double>{30});
  CHECK(read<double>(file, "job/course/end", H5T_NATIVE_DOUBLE) ==
        std::vector<double>{60, 70.5, 100});
  CHECK(read<std::int64_t>(file, "job/course/replicas", H5T_NATIVE_INT64) ==
        std::vector<std::int64_t>{4, 4, 3});

  const YAML::Node events = YAML::Load(job_trace_json("x", outlook))["traceEvents"];
  double trained = 0, lost = 0;
  int counters = 0;
  for (const YAML::Node& event : events) {
    const auto kind = event["ph"].as<std::string>();
    if (kind == "C") ++counters;
    if (kind != "X") continue;
    (event["tid"].as<int>() == 0 ? trained : lost) += event["dur"].as<double>() * 1e-6;
  }
  CHECK(trained == 89.5);
  CHECK(lost == 10.5);
  CHECK(counters == 2);
}

TEST_CASE("trace: spans of one thread follow each other") {
  const YAML::Node trace = YAML::Load(trace_json(example_result()));
  std::map<std::pair<int, int>, double> free_at;
  int spans = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"].as<std::string>() != "X") continue;
    ++spans;
    double& end = free_at[{event["pid"].as<int>(), event["tid"].as<int>()}];
    CHECK(event["ts"].as<double>() >= end);
    end = event["ts"].as<double>() + event["dur"].as<double>();
  }
  CHECK(spans == 4);
  CHECK(free_at.size() == 3);
  // 3,000,000 ps.
  CHECK(free_at[{0, 0}] == sim::approximately(3.0));
}

TEST_CASE("trace: names, categories, counters") {
  const std::string json = trace_json(example_result());
  CHECK(json.find(R"_({"ph": "M", "name": "process_name", "pid": 16, "tid": 0, )_"
                  R"_("args": {"name": "rank 16 (stage 1, 16 ranks alike)"}})_") !=
        std::string::npos);
  CHECK(json.find(R"({"ph": "X", "name": "backward 0.0", "cat": "compute", "pid": 0, "tid": 0, )"
                  R"("ts": 1.000001, "dur": 1.999999})") != std::string::npos);
  CHECK(json.find(R"({"ph": "C", "name": "h0.nic2", "pid": 17, "tid": 0, "ts": 250000, )"
                  R"("args": {"use [%]": 100}})") != std::string::npos);
}

TEST_CASE("gzip: what goes in comes out, and the header holds no time") {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919 % 10007) + " ";
  const std::string bytes = gzip(text);
  CHECK(bytes.size() < text.size());
  CHECK(unzipped(bytes) == text);
  CHECK(unzipped(gzip("")).empty());
  // RFC 1952: magic, deflate, no flags, time 0 (4 bytes), extra flags, system 255 (unknown).
  CHECK(bytes.substr(0, 8) == std::string("\x1f\x8b\x08\0\0\0\0\0", 8));
  CHECK(bytes.substr(9, 1) == "\xff");
}

}  // namespace analysis
