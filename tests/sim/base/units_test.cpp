// Values with units: what is read, what is refused and how, what is printed.
#include "sim/base/units.h"

#include <doctest/doctest.h>

#include <random>
#include <regex>

#include "tests/approximately.h"

using namespace sim;

namespace {

double value_of(std::string_view text, Dimension dimension) {
  CAPTURE(text);
  const auto parsed = parse_value(text, dimension);
  const double* value = std::get_if<double>(&parsed);
  REQUIRE(value != nullptr);
  return *value;
}

UnitError error_of(std::string_view text, Dimension dimension) {
  CAPTURE(text);
  const auto parsed = parse_value(text, dimension);
  const UnitError* error = std::get_if<UnitError>(&parsed);
  REQUIRE(error != nullptr);
  return *error;
}

}  // namespace

TEST_CASE("units: values are exact where the decimal is") {
  // Literals are rounded once by the compiler, and so must the parsed values be.
  CHECK(value_of("33 ms", Dimension::time) == 0.033);
  CHECK(value_of("1.5 us", Dimension::time) == 1.5e-6);
  CHECK(value_of("7 ps", Dimension::time) == 7e-12);
  CHECK(value_of("2 min", Dimension::time) == 120);
  CHECK(value_of("54 d", Dimension::time) == 54 * 86400.0);
  CHECK(value_of("80 GB", Dimension::bytes) == 80e9);
  CHECK(value_of("80 GiB", Dimension::bytes) == 85899345920.0);
  CHECK(value_of("400 Gbit/s", Dimension::byte_rate) == 50e9);
  CHECK(value_of("1 bit/s", Dimension::byte_rate) == 0.125);
  CHECK(value_of("1 GiB/s", Dimension::byte_rate) == 1073741824.0);
  CHECK(value_of("989 TFLOP/s", Dimension::flop_rate) == 989e12);
  CHECK(value_of("86.4 /day", Dimension::per_time) == approximately(1e-3));
  CHECK(value_of("1 /year", Dimension::per_time) == approximately(1.0 / 31536000));
  CHECK(value_of("0.7 kW", Dimension::power) == 700);
  CHECK(value_of("2.5 USD", Dimension::money) == 2.5);
  CHECK(value_of("77 %", Dimension::percent) == 0.77);
  CHECK(value_of("15 T", Dimension::count_text) == 15e12);
  CHECK(value_of("1500", Dimension::count_text) == 1500);
  CHECK(value_of("0 s", Dimension::time) == 0);
  CHECK(value_of("4.7e-4 /day", Dimension::per_time) == approximately(4.7e-4 / 86400));
}

TEST_CASE("units: space around a value does not matter, between number and unit it must be there") {
  CHECK(value_of("  5   s ", Dimension::time) == 5);
  CHECK(value_of("5\ts", Dimension::time) == 5);
  CHECK(error_of("5s", Dimension::time).message == "no space between number and unit in '5s'");
  CHECK(error_of("5s", Dimension::time).hint == "write '5 s'");
}

TEST_CASE("units: 'Gbps' says why and offers bits and bytes") {
  const UnitError error = error_of("400 Gbps", Dimension::byte_rate);
  CHECK(error.message == "unknown unit 'Gbps'");
  CHECK(error.why == "'Gbps' is read as bits by some and bytes by others");
  CHECK(error.hint == "write '400 Gbit/s' (50 GB/s) or '400 GB/s'");
  CHECK(error_of("400Gbps", Dimension::byte_rate).hint == error.hint);
}

TEST_CASE("units: a missing unit, and one of another dimension") {
  CHECK(error_of("5", Dimension::time).message == "missing unit in '5'");
  CHECK(error_of("0.77", Dimension::percent).hint == "write '77 %'");
  CHECK(error_of("77", Dimension::percent).hint == "write '77 %'");
  const UnitError bytes = error_of("400 GB", Dimension::byte_rate);
  CHECK(bytes.hint == "write '400 Gbit/s' (50 GB/s) or '400 GB/s'");
  CHECK(error_of("5 W", Dimension::time).message == "unit 'W' of power instead of time");
  CHECK(error_of("1 K", Dimension::time).hint == "units of time: s, ms, us, ns, ps, min, h, d");
}

TEST_CASE("units: common other spellings lead to the right one") {
  CHECK(error_of("5 sec", Dimension::time).hint == "write '5 s'");
  CHECK(error_of("5 \xc2\xb5s", Dimension::time).hint == "write '5 us'");
  CHECK(error_of("5 m", Dimension::time).hint == "write '5 min' or '5 ms'");
  CHECK(error_of("989 TFLOPS", Dimension::flop_rate).hint == "write '989 TFLOP/s'");
  CHECK(error_of("2 PFLOPs/s", Dimension::flop_rate).hint == "write '2 PFLOP/s'");
  CHECK(error_of("64 KB", Dimension::bytes).hint == "write '64 kB' or '64 KiB'");
  CHECK(error_of("64 Gib", Dimension::bytes).hint == "write '64 GiB'");
  CHECK(error_of("15 k", Dimension::count_text).hint == "write '15 K'");
}

TEST_CASE("units: what is no finite number of at least zero is refused") {
  CHECK(error_of("-5 s", Dimension::time).message == "negative value '-5 s'");
  CHECK(error_of("nan s", Dimension::time).message == "no number in 'nan s'");
  CHECK(error_of("inf s", Dimension::time).message == "infinite value 'inf s'");
  CHECK(error_of("1e999 s", Dimension::time).message == "value out of range '1e999 s'");
  // 1e308 is a number, 1e308 TB is none.
  CHECK(error_of("1e308 TB", Dimension::bytes).message == "value out of range '1e308 TB'");
  CHECK(error_of("", Dimension::time).message == "empty value");
  CHECK(error_of("1,000 s", Dimension::time).why == "digits are written without separators");
  CHECK(error_of(".5 s", Dimension::time).hint == "write '0.5 s'");
  CHECK(error_of("5 6 s", Dimension::time).message == "two numbers in '5 6 s'");
  CHECK(error_of("5 s s", Dimension::time).message == "unknown unit 's s'");
  for (const char* text :
       {"+5 s", "0x10 s", "5. s", "5e s", "s", "--5 s", "5 s;", "five s", "1.2.3 s"}) {
    CHECK(std::holds_alternative<UnitError>(parse_value(text, Dimension::time)));
  }
}

TEST_CASE("units: the pattern of the schema accepts exactly what the parser accepts") {
  const std::vector<std::string> pieces = {"5",   "1.5", "2e-3", "-1",     ".5", "7.",
                                           "inf", " ",   "  ",   "s",      "GB", "%",
                                           "T",   "B",   "/day", "Gbit/s", "x"};
  std::mt19937 random(7);
  for (int dimension = 0; dimension <= static_cast<int>(Dimension::count_text); ++dimension) {
    const auto kind = static_cast<Dimension>(dimension);
    const std::regex pattern(value_pattern(kind), std::regex::ECMAScript);
    int accepted = 0;
    for (const std::string& unit : unit_names(kind)) {
      CHECK(std::regex_match("12.5 " + unit, pattern));
      CHECK(value_of("12.5 " + unit, kind) > 0);
    }
    for (int i = 0; i < 3000; ++i) {
      std::string text = pieces[random() % 7];  // neither begins nor ends with a space
      for (std::size_t n = random() % 3; n > 0; --n) text += pieces[random() % pieces.size()];
      text += pieces[9 + random() % 8];
      CAPTURE(text);
      const bool is_value = std::holds_alternative<double>(parse_value(text, kind));
      CHECK(is_value == std::regex_match(text, pattern));
      accepted += is_value;
    }
    CHECK((accepted > 0 || kind == Dimension::power || kind == Dimension::money ||
           kind == Dimension::flop_rate));
  }
}

TEST_CASE("units: any bytes are a value or an error, never a crash") {
  std::mt19937 random(11);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t n = random() % 12; n > 0; --n) text += static_cast<char>(random() % 256);
    const auto parsed = parse_value(text, static_cast<Dimension>(random() % 9));
    if (const double* value = std::get_if<double>(&parsed)) CHECK(*value >= 0);
    if (const UnitError* error = std::get_if<UnitError>(&parsed))
      CHECK_FALSE(error->message.empty());
  }
}

TEST_CASE("units: text has four significant digits and the unit that suits") {
  CHECK(to_text(Seconds(13.7512)) == "13.75 s");
  CHECK(to_text(Seconds(0)) == "0 s");
  CHECK(to_text(Seconds(0.033)) == "33 ms");
  CHECK(to_text(Seconds(0.99996)) == "1 s");
  CHECK(to_text(Seconds(0.9999)) == "999.9 ms");
  CHECK(to_text(Seconds(90)) == "90 s");
  CHECK(to_text(Seconds(900)) == "15 min");
  CHECK(to_text(Seconds(7200)) == "2 h");
  CHECK(to_text(Seconds(54 * 86400.0)) == "54 d");
  CHECK(to_text(Seconds(-0.002)) == "-2 ms");
  CHECK(to_text(Bytes(0)) == "0 B");
  CHECK(to_text(Bytes(49.94e9)) == "46.51 GiB");  // 49.94e9 / 2^30 = 46.5102
  CHECK(to_text(Bytes(1023.9996 * 1024)) == "1 MiB");
  CHECK(to_text(Bytes(1023.4 * 1024)) == "1023 KiB");
  CHECK(to_text(Bytes(std::ldexp(1.0, 64))) == "16384 PiB");
  CHECK(to_text(BytesPerSecond(50e9)) == "50 GB/s");
  CHECK(to_text(FlopsPerSecond(989e12)) == "989 TFLOP/s");
}
