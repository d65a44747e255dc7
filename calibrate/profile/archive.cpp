// The order, names and units of everything in a profile file.
#include "calibrate/profile/archive.h"

#include <optional>

#include "calibrate/profile/names.h"

namespace calibrate::profile {
namespace {

template <class Enum, class Parse>
void word(Archive& archive, const char* label, Enum& value, Parse parse) {
  std::string text = name(value);
  archive.text(label, text);
  const std::optional<Enum> parsed = parse(text);
  if (!parsed) archive.unknown_word(label, text);
  value = *parsed;
}

template <class Body>
void group(Archive& archive, const std::string& label, Body body) {
  archive.enter(label);
  body();
  archive.leave();
}

template <class Item, class Visit>
void list(Archive& archive, const std::string& label, std::vector<Item>& items, Visit visit) {
  group(archive, label, [&] {
    items.resize(archive.length(items.size()));
    for (std::size_t i = 0; i < items.size(); ++i) {
      group(archive, std::to_string(i), [&] { visit(archive, items[i]); });
    }
  });
}

void seconds(Archive& archive, const char* label, Seconds& value) {
  double number = value.value();
  archive.number(label, "s", number);
  value = Seconds(number);
}

void whole(Archive& archive, const char* label, int& value) {
  double number = value;
  archive.number(label, "1", number);
  value = static_cast<int>(number);
}

void range(Archive& archive, const std::string& label, Range& value) {
  group(archive, label, [&] {
    archive.number("least", "1", value.least);
    archive.number("most", "1", value.most);
  });
}

void factor(Archive& archive, const std::string& label, Factor& value) {
  group(archive, label, [&] {
    archive.number("value", "1", value.value);
    archive.number("spread", "1", value.spread);
    archive.text("source", value.source);
  });
}

void interval(Archive& archive, const char* units, Interval& value) {
  group(archive, "interval", [&] {
    archive.numbers("bounds", units, value.bounds);
    archive.numbers("half_widths", "1", value.half_widths);
  });
}

void process(Archive& archive, GaussianProcess& value) {
  group(archive, "residual", [&] {
    archive.numbers("centre", "1", value.centre);
    archive.numbers("scale", "1", value.scale);
    archive.numbers("points", "1", value.points);
    archive.numbers("weights", "log(s)", value.weights);
  });
}

void gemm(Archive& archive, GemmModel& model) {
  word(archive, "precision", model.precision, precision_of);
  archive.text("source", model.source);
  archive.number("peak", "FLOP/s", model.hardware.peak);
  archive.number("memory_rate", "byte/s", model.hardware.memory_rate);
  archive.number("multiprocessors", "1", model.hardware.multiprocessors);
  archive.number("element", "byte", model.hardware.element);
  archive.number("launch", "s", model.tile.launch);
  archive.number("wave", "s", model.tile.wave);
  archive.number("compute", "1", model.tile.compute);
  archive.number("load", "byte/s", model.tile.load);
  archive.number("quantisation", "1", model.tile.quantisation);
  archive.number("memory", "1", model.tile.memory);
  archive.number("split", "s", model.tile.split);
  archive.number("softness", "1", model.tile.softness);
  archive.number("conversion", "s/byte", model.tile.conversion);
  std::vector<double> factors(model.tile.factor.begin(), model.tile.factor.end());
  archive.numbers("tile_factors", "1", factors);
  factors.resize(model.tile.factor.size());
  std::copy(factors.begin(), factors.end(), model.tile.factor.begin());
  process(archive, model.residual);
  range(archive, "m", model.m);
  range(archive, "n", model.n);
  range(archive, "k", model.k);
  archive.number("flops_most", "FLOP", model.flops_most);
  interval(archive, "FLOP", model.interval);
}

void grouped(Archive& archive, GroupedGemmModel& model) {
  archive.text("source", model.source);
  archive.number("peak", "FLOP/s", model.hardware.peak);
  archive.number("memory_rate", "byte/s", model.hardware.memory_rate);
  archive.number("element", "byte", model.hardware.element);
  archive.number("launch", "s", model.hardware.launch);
  archive.number("block", "s", model.tile.block);
  archive.number("group", "s", model.tile.group);
  archive.number("move", "1", model.tile.move);
  archive.number("compute", "1", model.tile.compute);
  archive.number("memory", "1", model.tile.memory);
  archive.number("unseen_half_width", "1", model.unseen_half_width);
  process(archive, model.residual);
  range(archive, "rows", model.rows);
  range(archive, "groups", model.groups);
  range(archive, "widths", model.widths);
  interval(archive, "FLOP", model.interval);
}

void roofline(Archive& archive, RooflineModel& model) {
  word(archive, "precision", model.precision, precision_of);
  archive.number("peak", "FLOP/s", model.peak);
  archive.number("memory_rate", "byte/s", model.memory_rate);
  archive.number("launch", "s", model.launch);
  factor(archive, "efficiency", model.efficiency);
}

void attention(Archive& archive, AttentionModel& model) {
  word(archive, "kernel", model.kernel, attention_kernel_of);
  archive.text("source", model.source);
  archive.number("head_size", "1", model.head_size);
  archive.number("peak", "FLOP/s", model.peak);
  archive.number("memory_rate", "byte/s", model.memory_rate);
  archive.number("multiprocessors", "1", model.multiprocessors);
  archive.number("launch", "s", model.tile.launch);
  archive.number("block", "s", model.tile.block);
  archive.number("compute", "1", model.tile.compute);
  archive.number("quantisation", "1", model.tile.quantisation);
  archive.number("memory", "1", model.tile.memory);
  process(archive, model.residual);
  range(archive, "length", model.length);
  range(archive, "blocks", model.blocks);
  interval(archive, "FLOP", model.interval);
}

void kernel(Archive& archive, KernelFactor& value) {
  word(archive, "kernel", value.kernel, attention_kernel_of);
  word(archive, "measured", value.measured, attention_kernel_of);
  factor(archive, "factor", value.factor);
}

void memory(Archive& archive, MemoryModel& model) {
  archive.text("source", model.source);
  archive.number("latency", "s", model.curve.latency);
  archive.number("cache", "byte/s", model.curve.cache);
  archive.number("memory", "byte/s", model.curve.memory);
  archive.number("knee", "byte", model.curve.knee);
  archive.number("steepness", "1", model.curve.steepness);
  archive.number("bytes_most", "byte", model.bytes_most);
  interval(archive, "byte", model.interval);
}

void curve(Archive& archive, SizeCurve& value) {
  archive.numbers("log_bytes", "log(byte)", value.log_bytes);
  archive.numbers("log_seconds", "log(s)", value.log_seconds);
  archive.numbers("slopes", "1", value.slopes);
}

void collective(Archive& archive, CollectiveModel& model) {
  word(archive, "operation", model.kind, collective_kind_of);
  archive.text("source", model.source);
  archive.number("base", "s", model.law.base);
  archive.number("hop", "s", model.law.hop);
  archive.number("rate", "byte/s", model.law.rate);
  archive.number("growth", "1", model.law.growth);
  archive.number("saturation", "byte", model.law.saturation);
  archive.number("steepness", "1", model.law.steepness);
  archive.number("law_half_width", "1", model.law_half_width);
  archive.numbers("ranks", "1", model.ranks);
  list(archive, "curves", model.curves, curve);
  interval(archive, "byte", model.interval);
}

void network(Archive& archive, NetworkConstants& value) {
  seconds(archive, "base", value.base);
  seconds(archive, "step_intra", value.step_intra);
  seconds(archive, "step_inter", value.step_inter);
  archive.number("efficiency", "1", value.efficiency);
  archive.number("intra_efficiency", "1", value.intra_efficiency);
  whole(archive, "channels", value.channels);
  whole(archive, "channels_point_to_point", value.channels_point_to_point);
}

void report(Archive& archive, FitReport& value) {
  archive.text("family", value.family);
  archive.text("source", value.source);
  whole(archive, "samples", value.samples);
  whole(archive, "held_out", value.held_out);
  archive.number("mape", "1", value.mape);
  archive.number("p90", "1", value.p90);
  archive.number("bias", "1", value.bias);
}

void level(Archive& archive, LevelError& value) {
  archive.text("family", value.family);
  archive.number("value", "1", value.value);
  archive.text("source", value.source);
}

void layout(Archive& archive, LayoutModel& value) {
  word(archive, "layout", value.layout, layout_of);
  gemm(archive, value.model);
}

void fact(Archive& archive, Fact& value) {
  archive.text("name", value.name);
  archive.text("value", value.value);
}

void measured_case(Archive& archive, MeasuredCase& value) {
  archive.text("family", value.family);
  archive.text("operation", value.operation);
  archive.numbers("shape", "1", value.shape);
  archive.numbers("seconds", "s", value.seconds);
}

void measurement(Archive& archive, ProfileData& data) {
  int schema = measurement_schema;
  whole(archive, "schema", schema);
  if (schema != measurement_schema) archive.unknown_word("schema", std::to_string(schema));
  list(archive, "layouts", data.layouts, layout);
  list(archive, "environment", data.measurement.environment, fact);
  list(archive, "cases", data.measurement.cases, measured_case);
}

}  // namespace

std::string Archive::path(const char* name) const {
  std::string text;
  for (const std::string& group : groups_) text += group + "/";
  return text + name;
}

void walk(Archive& archive, ProfileData& data) {
  archive.text("device", data.device);
  word(archive, "origin", data.origin, origin_of);
  archive.text("measured", data.measured);
  list(archive, "sources", data.sources,
       [](Archive& a, std::string& source) { a.text("source", source); });
  list(archive, "gemm", data.gemm, gemm);
  list(archive, "roofline", data.roofline, roofline);
  list(archive, "grouped_gemm", data.grouped, grouped);
  factor(archive, "sustained_gemm", data.sustained_gemm);
  factor(archive, "sustained_attention", data.sustained_attention);
  factor(archive, "input_gradient", data.input_gradient);
  factor(archive, "weight_gradient", data.weight_gradient);
  factor(archive, "weight_gradient_fp32", data.weight_gradient_fp32);
  list(archive, "attention", data.attention, attention);
  list(archive, "attention_kernels", data.kernels, kernel);
  factor(archive, "attention_backward", data.attention_backward);
  factor(archive, "attention_full", data.attention_full);
  group(archive, "memory", [&] { memory(archive, data.memory); });
  list(archive, "collectives", data.collectives, collective);
  group(archive, "network", [&] {
    network(archive, data.network);
    archive.text("source", data.network_source);
  });
  list(archive, "level_errors", data.level_errors, level);
  list(archive, "reports", data.reports, report);
  if (!archive.continues(data.is_measured())) return;
  group(archive, "measurement", [&] { measurement(archive, data); });
}

}  // namespace calibrate::profile
