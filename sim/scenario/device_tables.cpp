// The format of devices and hosts.
#include "calibrate/profile/names.h"
#include "sim/scenario/resolve.h"
#include "sim/scenario/tables.h"

namespace sim::scenario {
namespace {

using calibrate::profile::Precision;
using topology::HostType;
using topology::ScaleUp;

std::vector<Word<Precision>> precision_words() {
  std::vector<Word<Precision>> words;
  for (const Precision precision :
       {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16, Precision::fp8}) {
    words.push_back({calibrate::profile::name(precision), precision});
  }
  return words;
}

// A fact that is needed only because of another one.
void need(Reader& reader, const Value& section, const std::string& path, const std::string& key,
          const std::string& because) {
  if (section.find(key) != nullptr) return;
  report_missing(reader, section, path, key, because);
}

void check_device(Reader& reader, const Value& section, const std::string& path,
                  DeviceType& device) {
  if (device.is_ideal) return;
  // A profile of one's own stands beside the file that names it; the catalog knows its own.
  const Value* profile = section.find("profile");
  if (profile != nullptr && profile->kind == Value::Kind::text &&
      !profile->place().file.starts_with((reader.catalog() / "devices").generic_string())) {
    const auto file = reader.file_named(*profile);
    if (file) device.profile = std::filesystem::absolute(*file).string();
  }
  const std::string because = "a device that is not ideal has one";
  for (const char* key : {"peak", "memory", "memory_rate", "multiprocessors"}) {
    need(reader, section, path, key, because);
  }
}

void check_host(Reader& reader, const Value& section, const std::string& path, HostDraft& host) {
  const HostType& type = host.type;
  const bool has_scale_up = type.scale_up.kind != ScaleUp::Kind::none;
  if (type.nics > 0) need(reader, section, path, "nic", "a host with NICs says their rate");
  if (type.nics > 0 || (type.devices > 1 && !has_scale_up)) {
    need(reader, section, path, "pcie", "what a host's devices and NICs are joined by");
  }
  if (section.find("pcie") != nullptr) {
    need(reader, section, path, "pcie_latency", "one hop over PCIe");
  }
}

void check_scale_up(Reader& reader, const Value& section, const std::string& path, ScaleUp& what) {
  if (what.kind == ScaleUp::Kind::none) return;
  need(reader, section, path, "per_device", "one way, of one device");
  need(reader, section, path, "latency", "of one hop");
}

Section<ScaleUp> scale_up_table() {
  Section<ScaleUp> table("how the devices of one scale-up domain are joined");
  table
      .defaulted("kind",
                 word<ScaleUp::Kind>("kind", {{"none", ScaleUp::Kind::none},
                                              {"crossbar", ScaleUp::Kind::crossbar},
                                              {"mesh", ScaleUp::Kind::mesh}}),
                 &ScaleUp::kind, "none",
                 "none, crossbar (switches), or mesh (a link between every two devices)")
      .optional("per_device", byte_rate(), &ScaleUp::per_device,
                "rate of one device, one way: NVLink 4 has 450 GB/s")
      .optional("latency", duration(), &ScaleUp::latency,
                "one hop: device to switch, or device to device in a mesh")
      .defaulted("domain_hosts", small_count(1, 4096), &ScaleUp::domain_hosts, "1",
                 "hosts that one domain spans: 18 for GB200 NVL72")
      .defaulted("sharp", flag(), &ScaleUp::sharp, "false",
                 "the switches of a crossbar reduce and multicast (NVLink SHARP)")
      .check(check_scale_up);
  return table;
}

}  // namespace

Section<DeviceType> device_table() {
  Section<DeviceType> table("a type of GPU, by its datasheet");
  table.optional("name", text(), &DeviceType::name, "short name; that of the file unless written")
      .optional("full_name", text(), &DeviceType::full_name, "the vendor's name")
      .optional("source", text(), &DeviceType::source, "where the figures are from")
      .optional("peak",
                map_of("precision", precision_words(),
                       converted<FlopsPerSecond>(measure(Dimension::flop_rate, Zero::refused),
                                                 [](double v) { return FlopsPerSecond(v); })),
                &DeviceType::peak, "dense matrix speed by precision")
      .optional("memory", size(Zero::refused), &DeviceType::memory, "capacity of device memory")
      .optional("memory_rate", byte_rate(), &DeviceType::memory_rate, "rate of device memory")
      .optional("multiprocessors", small_count(1, 100'000), &DeviceType::multiprocessors,
                "streaming multiprocessors")
      .optional("l2", size(), &DeviceType::l2, "level 2 cache")
      .optional("power", measure(Dimension::power), &DeviceType::power_watts, "power limit")
      .optional("profile", text(), &DeviceType::profile,
                "file of the fitted profile, beside this one or in the catalog's folder of devices")
      .defaulted("ideal", flag(), &DeviceType::is_ideal, "false",
                 "operators take exactly roofline time, without overhead")
      .check(check_device);
  return table;
}

Section<HostDraft> host_table() {
  const auto of = [](auto member) {
    return [member](HostDraft& host, auto value) { host.type.*member = std::move(value); };
  };
  Section<HostDraft> table("a type of host: what fails together, with its CPU and memory");
  table.optional("name", text(), of(&HostType::name), "short name; that of the file unless written")
      .optional(
          "full_name", text(), [](HostDraft&, const std::string&) {}, "the vendor's name")
      .optional(
          "source", text(), [](HostDraft&, const std::string&) {}, "where the figures are from")
      .required(
          "device", catalog_kind("devices", "device", device_table(), Naming::text),
          [](HostDraft& host, DeviceType device) {
            host.type.device_type = device.name;
            host.device = std::move(device);
          },
          "type of its devices")
      .required("devices", small_count(1, 1024), of(&HostType::devices), "devices in a host")
      .group("scale_up", scale_up_table(),
             [](HostDraft& host) -> ScaleUp& { return host.type.scale_up; })
      .optional("pcie", byte_rate(), of(&HostType::pcie),
                "one way, each device and each NIC to its PCIe switch")
      .optional("pcie_latency", duration(), of(&HostType::pcie_latency), "one hop over PCIe")
      .defaulted("devices_per_pcie_switch", small_count(1, 1024),
                 of(&HostType::devices_per_pcie_switch), "1", "devices under one PCIe switch")
      .defaulted("sockets", small_count(1, 64), of(&HostType::sockets), "2", "CPU sockets")
      .optional("socket_link", byte_rate(), of(&HostType::socket_link),
                "one way, between the CPU sockets")
      .defaulted("nics", small_count(0, 1024), of(&HostType::nics), "0",
                 "network interfaces, spread evenly over the devices")
      .optional("nic", byte_rate(), of(&HostType::nic), "rate of one NIC, one way")
      .optional("memory", size(), of(&HostType::memory), "host memory")
      .optional("memory_rate", byte_rate(), of(&HostType::memory_rate), "rate of host memory")
      .optional("optimizer_rate", byte_rate(), of(&HostType::optimizer_rate),
                "of optimizer states, gradients and parameters that all its cores read and write "
                "in a step of an offloaded optimizer, unless its memory is slower")
      .optional("cores", small_count(0, 1'000'000), of(&HostType::cores), "CPU cores")
      .optional("power", measure(Dimension::power), of(&HostType::power_watts),
                "of the host without its devices")
      .check(check_host);
  return table;
}

}  // namespace sim::scenario
