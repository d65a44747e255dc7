// The format of programs written by hand, and of what a worked scenario expects.
#include <algorithm>

#include "sim/scenario/encoding.h"
#include "sim/scenario/tables.h"

namespace sim::scenario {
namespace {

using collective::Algorithm;
using collective::Operation;
using collective::Protocol;

// All keys of an operation, of whatever sort it is.
struct RawOperation {
  std::string name;
  std::vector<std::string> after, devices;
  std::optional<Seconds> compute;
  std::optional<Bytes> transfer, bytes;
  std::optional<Operation> collective;
  std::string on, from, to;
  std::optional<double> multiprocessors, memory;
  std::optional<Algorithm> algorithm;
  std::optional<Protocol> protocol;
  std::optional<int> channels;
  Place place;
};

// The keys of each sort of operation; the first says the sort.
struct Sort {
  const char* key;
  std::vector<const char*> required, optional;
};
const std::vector<Sort>& sorts() {
  static const std::vector<Sort> all = {{"compute", {"on"}, {"multiprocessors", "memory"}},
                                        {"transfer", {"from", "to"}, {}},
                                        {"collective",
                                         {"bytes", "devices"},
                                         {"algorithm", "protocol", "channels", "multiprocessors"}}};
  return all;
}

bool holds(const std::vector<const char*>& keys, const std::string& key) {
  return std::any_of(keys.begin(), keys.end(), [&](const char* one) { return key == one; });
}

void check_collective(Reader& reader, const std::string& path, const RawOperation& raw) {
  if (raw.channels && raw.multiprocessors) {
    reader.error(joined_path(path, "channels"), reader.place(joined_path(path, "channels")),
                 fmt::format("channels beside multiprocessors in {}", path),
                 "a channel is one multiprocessor: both say how many the kernel holds",
                 "remove one of them");
  }
  if (!raw.algorithm) return;
  const auto known = collective::algorithms(*raw.collective);
  if (std::find(known.begin(), known.end(), *raw.algorithm) != known.end()) return;
  std::vector<std::string> names;
  for (const Algorithm algorithm : known) names.push_back(collective::name(algorithm));
  reader.error(joined_path(path, "algorithm"), reader.place(joined_path(path, "algorithm")),
               fmt::format("no algorithm '{}' of {} for {}", collective::name(*raw.algorithm),
                           collective::name(*raw.collective), path),
               fmt::format("known: {}", fmt::join(names, ", ")));
}

void check_operation(Reader& reader, const Value& section, const std::string& path,
                     RawOperation& raw) {
  raw.place = section.place();
  std::vector<const Sort*> found;
  for (const Sort& sort : sorts()) {
    if (section.find(sort.key) != nullptr) found.push_back(&sort);
  }
  if (found.size() != 1) {
    reader.error(path, section.place(),
                 fmt::format("{} of compute, transfer and collective in {}",
                             found.empty() ? "none" : "more than one", path),
                 "", "an operation is exactly one of them");
    return;
  }
  const Sort& sort = *found.front();
  for (const char* key : sort.required) {
    if (section.find(key) == nullptr) {
      report_missing(reader, section, path, key, fmt::format("a {} has it", sort.key));
    }
  }
  for (const Entry& entry : section.entries) {
    const std::string& key = entry.key;
    if (key == "name" || key == "after" || key == sort.key) continue;
    if (holds(sort.required, key) || holds(sort.optional, key)) continue;
    reader.error(joined_path(path, key), entry.key_place(),
                 fmt::format("'{}' of a {} in {}", key, sort.key, path),
                 fmt::format("a {} has {}{}{}", sort.key, fmt::join(sort.required, ", "),
                             sort.optional.empty() ? "" : ", ", fmt::join(sort.optional, ", ")));
  }
  if (raw.transfer && !raw.from.empty() && raw.from == raw.to) {
    reader.error(joined_path(path, "to"), reader.place(joined_path(path, "to")),
                 fmt::format("{} goes from '{}' to itself", path, shown(raw.from)));
  }
  if (raw.collective && reader.is_clean(path)) check_collective(reader, path, raw);
}

Section<RawOperation> operation_table() {
  Section<RawOperation> table("an operation: one of compute, transfer, collective");
  table.required("name", text(), &RawOperation::name, "unique name")
      .optional("after", list(text()), &RawOperation::after,
                "names of operations that must have ended")
      .optional("compute", duration(), &RawOperation::compute, "duration alone")
      .optional("on", text(), &RawOperation::on, "device that computes")
      .optional("multiprocessors", share(), &RawOperation::multiprocessors,
                "share held: of a compute 100 % unless written")
      .optional("memory", share(), &RawOperation::memory,
                "share of the device's memory rate; 0 % unless written")
      .optional("transfer", size(), &RawOperation::transfer, "bytes sent")
      .optional("from", text(), &RawOperation::from, "device that sends")
      .optional("to", text(), &RawOperation::to, "device that receives")
      .optional("collective",
                word<Operation>("collective", {{"all-reduce", Operation::all_reduce},
                                               {"all-gather", Operation::all_gather},
                                               {"reduce-scatter", Operation::reduce_scatter},
                                               {"all-to-all", Operation::all_to_all},
                                               {"broadcast", Operation::broadcast},
                                               {"send-receive", Operation::send_receive}}),
                &RawOperation::collective, "which collective")
      .optional("bytes", size(), &RawOperation::bytes, "as nccl-tests counts")
      .optional("devices", list(text()), &RawOperation::devices,
                "in ring order; h[0..3].gpu* stands for several, host by host")
      .optional("algorithm",
                word<Algorithm>("algorithm", {{"ring", Algorithm::ring},
                                              {"tree", Algorithm::tree},
                                              {"hierarchical", Algorithm::hierarchical},
                                              {"pairwise", Algorithm::pairwise},
                                              {"direct", Algorithm::direct},
                                              {"nvls", Algorithm::nvls},
                                              {"nvls-tree", Algorithm::nvls_tree},
                                              {"collnet", Algorithm::collnet},
                                              {"pat", Algorithm::pat},
                                              {"pxn", Algorithm::pxn}}),
                &RawOperation::algorithm, "NCCL's choice unless written")
      .optional("protocol",
                word<Protocol>("protocol", {{"simple", Protocol::simple},
                                            {"ll128", Protocol::ll128},
                                            {"ll", Protocol::ll}}),
                &RawOperation::protocol, "NCCL's choice unless written")
      .optional("channels", small_count(1, 64), &RawOperation::channels,
                "multiprocessors that the kernel holds; the profile's unless written")
      .check(check_operation);
  return table;
}

HandOperation hand_operation(RawOperation raw) {
  const auto with = [&](auto what) {
    return HandOperation{std::move(raw.name), std::move(raw.after), std::move(what),
                         std::move(raw.place)};
  };
  if (raw.compute) {
    return with(HandOperation::Compute{std::move(raw.on), *raw.compute,
                                       raw.multiprocessors.value_or(1), raw.memory.value_or(0)});
  }
  if (raw.transfer) {
    return with(HandOperation::Transfer{std::move(raw.from), std::move(raw.to), *raw.transfer});
  }
  return with(HandOperation::Collective{*raw.collective,
                                        std::move(raw.devices),
                                        *raw.bytes,
                                        {raw.algorithm, raw.protocol, raw.channels},
                                        raw.multiprocessors});
}

// Value of an expectation: the unit says what is expected; a plain number is a count.
std::optional<std::variant<Seconds, Bytes, double>> expected_value(const std::string& text) {
  const auto parse = [&](Dimension dimension) -> std::optional<double> {
    const auto parsed = parse_value(text, dimension);
    const double* value = std::get_if<double>(&parsed);
    return value != nullptr ? std::optional<double>(*value) : std::nullopt;
  };
  if (const auto time = parse(Dimension::time)) {
    if (*time > 100 * 86400.0) return std::nullopt;
    return Seconds(*time);
  }
  if (const auto bytes = parse(Dimension::bytes)) return Bytes(*bytes);
  if (const auto part = parse(Dimension::percent)) return *part;
  return parse(Dimension::count_text);
}

}  // namespace

Kind<std::vector<HandOperation>> operations_kind() {
  return converted<std::vector<HandOperation>>(
      list(operation_table().kind(), 1), [](std::vector<RawOperation> all) {
        std::vector<HandOperation> operations;
        for (RawOperation& raw : all) operations.push_back(hand_operation(std::move(raw)));
        return operations;
      });
}

Kind<std::vector<Expectation>> expectations_kind() {
  const auto value_kind = Kind<std::variant<Seconds, Bytes, double>>{
      [] { return R"({"type":["string","number"]})"; },
      [](Reader& reader, const Value& value,
         const std::string& path) -> std::optional<std::variant<Seconds, Bytes, double>> {
        const auto found =
            value.kind == Value::Kind::text ? expected_value(value.text) : std::nullopt;
        if (!found) report_shape(reader, value, path, "a time, bytes, a share or a number");
        return found;
      }};
  Section<Expectation> table("an expected value with a tolerance");
  table.required("value", value_kind, &Expectation::value, "with its unit")
      .optional("tolerance", share(), &Expectation::tolerance, "relative; exact unless written");
  const auto schema = [value_kind, table] {
    return fmt::format(
        "{{\"type\":\"object\",\"minProperties\":1,\"additionalProperties\":{{\"anyOf\":[{},{}]}}}"
        "}",
        value_kind.schema(), table.schema());
  };
  return {schema,
          [value_kind, table](Reader& reader, const Value& value,
                              const std::string& path) -> std::optional<std::vector<Expectation>> {
            if (value.kind != Value::Kind::map) {
              report_shape(reader, value, path, "a map of quantities");
              return std::nullopt;
            }
            std::vector<Expectation> all;
            for (const Entry& entry : value.entries) {
              const std::string one_path = joined_path(path, entry.key);
              reader.add_place(one_path, entry.value.place());
              Expectation one;
              if (entry.value.kind == Value::Kind::map) {
                table.read(reader, entry.value, one_path, one);
              } else if (const auto found = value_kind.read(reader, entry.value, one_path)) {
                one.value = *found;
              }
              one.quantity = entry.key;
              one.place = entry.value.place();
              all.push_back(std::move(one));
            }
            return all;
          }};
}

}  // namespace sim::scenario
