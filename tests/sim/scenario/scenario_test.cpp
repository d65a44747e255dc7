// Right scenarios: every value arrives where it belongs.
#include "sim/scenario/scenario.h"

#include <algorithm>

#include "sim/scenario/catalog.h"
#include "tests/approximately.h"
#include "tests/sim/scenario/reading.h"

using namespace sim;
using namespace sim::scenario;

namespace {

const std::string smallest = R"(maquette: 1
cluster: {name: pair}
dnn: {name: tiny}
training: {sequence: 2048, global_batch: 32}
)";

bool holds(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

TEST_CASE("scenario: everything said arrives") {
  const Scenario s = must_read(whole_scenario);
  CHECK(s.name == "a test");
  REQUIRE(s.cluster.hosts.size() == 1);
  const topology::HostGroup& group = s.cluster.hosts[0];
  CHECK(group.name == "h");
  CHECK(group.count == 2);
  CHECK(group.type.name == "box");
  CHECK(group.type.device_type == "g100");
  CHECK(group.type.devices == 8);
  CHECK(group.type.scale_up.kind == topology::ScaleUp::Kind::crossbar);
  CHECK(group.type.scale_up.per_device == gigabytes_per_second(450));
  CHECK(group.type.scale_up.latency.value() == approximately(microseconds(0.5)));
  CHECK(group.type.nics == 8);
  CHECK(group.type.nic == gigabits_per_second(400));
  CHECK(group.type.pcie == gigabytes_per_second(64));
  CHECK(group.type.memory == Bytes(2e12));
  CHECK(group.type.power_watts == 2000);
  const topology::Fabric& fabric = s.cluster.fabric;
  CHECK(fabric.kind == topology::Fabric::Kind::rail_optimized);
  CHECK(fabric.link.value() == 50e9);
  CHECK(fabric.latency.value() == approximately(0.6e-6));
  CHECK(fabric.oversubscription == 2);
  CHECK(fabric.routing == topology::Fabric::Routing::hashed);
  REQUIRE(s.cluster.storage);
  CHECK(s.cluster.storage->write == gigabytes_per_second(100));
  CHECK(s.cluster.storage->read == gigabytes_per_second(200));
  REQUIRE(s.device_types.size() == 1);
  const auto& device = s.device_types.at("g100");
  CHECK(device.full_name == "Test G100");
  CHECK(device.peak.at(calibrate::profile::Precision::bf16) == teraflops_per_second(1000));
  CHECK(device.memory == gigabytes(80));
  CHECK_FALSE(device.is_ideal);
}

TEST_CASE("scenario: dnn, stack, training and plan arrive") {
  const Scenario s = must_read(whole_scenario);
  const auto& dnn = std::get<dnn::Transformer>(s.dnn);
  CHECK(dnn.name == "tiny");
  CHECK(dnn.layers == 8);
  CHECK(dnn.kv_heads == 16);
  CHECK(dnn.head_size == 64);  // 1024 / 16
  CHECK(dnn.norm == dnn::Norm::rms_norm);
  CHECK(s.stack.name == "plain (changed)");
  CHECK(s.stack.attention == dnn::SoftwareStack::Attention::flash3);
  CHECK(s.stack.host_per_operator.value() == approximately(microseconds(5)));
  CHECK(s.stack.bucket.value() == 40e6);
  CHECK(s.training.tokens == 15e12);
  CHECK(s.plan.sequence == 8192);
  CHECK(s.plan.global_batch == 128);
  CHECK(s.plan.micro_batch == 2);
  CHECK(s.plan.tensor == 2);
  CHECK_FALSE(s.plan.sequence_parallel);
  CHECK(s.plan.stages == 2);
  CHECK(s.plan.virtual_stages == 2);
  CHECK(s.plan.schedule == plan::ScheduleKind::interleaved);
  CHECK(s.plan.layers == std::vector<int>{2, 2, 2, 2});
  CHECK(s.plan.sharding == plan::Sharding::zero1);
  CHECK(s.plan.data == 4);
  CHECK(s.plan.recompute == dnn::Recompute::selective);
  CHECK(s.plan.order[2] == plan::Dimension::pipeline);
  CHECK(s.plan.order[3] == plan::Dimension::data);
  CHECK(s.run.iterations == 3);
  CHECK(s.run.fidelity == Run::Fidelity::operators);
  CHECK(s.run.jitter.device == 0.02);
  CHECK(s.run.jitter.operation == 0);
  CHECK(s.run.jitter.replicas == 8);
  CHECK(s.run.jitter.seed == 5);
}

TEST_CASE("scenario: stragglers and expectations arrive") {
  const Scenario s = must_read(whole_scenario);
  REQUIRE(s.stragglers.size() == 3);
  CHECK(s.stragglers[0].part == "h0.gpu1");
  CHECK(s.stragglers[0].compute == 0.77);
  CHECK_FALSE(s.stragglers[0].to);
  CHECK(s.stragglers[1].link == 0.5);
  CHECK(s.stragglers[1].from == Seconds(10));
  CHECK(s.stragglers[1].to == Seconds(60));
  CHECK(s.stragglers[2].rank == 15);
  CHECK(s.stragglers[2].slowdown == 1.25);
  REQUIRE(s.expect.size() == 3);
  CHECK(s.expect[0].quantity == "iteration");
  CHECK(std::get<Seconds>(s.expect[0].value).value() == 0.033);
  CHECK(s.expect[0].tolerance == 0.01);
  CHECK(std::get<double>(s.expect[1].value) == 123);
  CHECK(std::get<Bytes>(s.expect[2].value).value() == 4294967296.0);
  CHECK(s.expect[2].tolerance == 0);
}

TEST_CASE("scenario: failures, checkpoint, recovery and how long the job runs arrive") {
  using fault::Distribution;
  const JobTimeEntry job = must_read(whole_scenario).job_time;
  REQUIRE(job.failures.size() == 4);
  const FailureEntry& first = job.failures[0];
  CHECK(first.part == Part::gpu);
  CHECK(first.cause == "any");
  CHECK(*first.rate == approximately(4.7e-4 / 86400));
  CHECK(first.infant_extra == 3);
  CHECK(first.infant_decay == Seconds(7 * 86400));
  CHECK(first.age == Seconds(86400));
  CHECK(first.hosts == 1);
  CHECK(first.repair->kind == Distribution::Kind::lognormal);
  CHECK(first.repair->scale == Seconds(4 * 3600));
  CHECK(first.found_after->kind == Distribution::Kind::exponential);
  CHECK(job.failures[1].observed->parts == 16384);
  CHECK(job.failures[1].repair->table == std::vector<Seconds>{Seconds(3600), Seconds(10800)});
  CHECK(job.failures[2].life->shape == 0.7);
  CHECK(job.failures[2].hosts == 2);
  CHECK(job.failures[2].detect->scale == Seconds(60));
  CHECK(job.failures[3].is_planned);
  CHECK(job.failures[3].first == Seconds(7 * 86400));
  CHECK(job.checkpoint->is_async);
  CHECK(job.checkpoint->size->value() == 1e12);
  CHECK(job.checkpoint->kept == 5);
  CHECK(job.recovery->policy == "shrink");
  CHECK(job.recovery->recovery.restart == Seconds(300));
  CHECK(job.recovery->recovery.boot == Seconds(600));
  CHECK_FALSE(job.recovery->recovery.is_interruptible);
  CHECK(job.recovery->spare_target == 0.95);
  CHECK(job.duration == Seconds(54 * 86400));
  CHECK(job.histories->most == 100);
  CHECK(job.histories->seed == 7);
  CHECK(job.device_hour == 2.5);
}

TEST_CASE("scenario: places of values, falling back to the parent") {
  const Scenario s = must_read(whole_scenario);
  CHECK(s.place("plan.tensor").line == 20);
  CHECK(s.place("plan.tensor").column == 11);
  CHECK(s.place("plan.pipeline.stages").line == 23);
  CHECK(s.place("plan.pipeline.stages").column == 22);
  CHECK(s.place("plan.pipeline.nothing").line == 23);
  CHECK(s.place("stragglers.1.link").line == 30);
  CHECK(s.place("no.such").line == 0);
  CHECK(s.place("no.such").file == s.place("plan").file);
}

TEST_CASE("scenario: what is left out takes the defaults, and they are listed") {
  const Scenario s = must_read(smallest);
  CHECK(s.name == "scenario");
  CHECK(s.stack.name == "megatron-core");
  CHECK(s.plan.tensor == 1);
  CHECK(s.plan.sequence_parallel);
  CHECK(s.plan.data == 16);  // 2 hosts of 8 devices
  CHECK(s.plan.schedule == plan::ScheduleKind::one_f_one_b);
  CHECK(s.run.iterations == 2);
  for (const char* line :
       {"stack: megatron-core", "training.micro_batch: 1", "plan.tensor: 1",
        "plan.pipeline.schedule: 1f1b", "plan.data.sharding: none", "plan.data.degree: 16",
        "placement.order: [tensor, context, data, pipeline]", "run.iterations: 2",
        "run.jitter.replicas: 64"}) {
    CAPTURE(line);
    CHECK(holds(s.defaults, line));
  }
  // What the catalog leaves out is its own matter.
  CHECK_FALSE(holds(s.defaults, "stack.attention: flash2"));
  CHECK_FALSE(holds(s.defaults, "dnn.gated: true"));
  CHECK_FALSE(holds(must_read(whole_scenario).defaults, "plan.tensor: 1"));
}

TEST_CASE("scenario: a program written by hand needs no dnn, plan or training") {
  const Scenario s = must_read(program);
  REQUIRE(s.cluster.graph);
  CHECK(s.cluster.graph->devices[0].host == "x");
  CHECK(s.cluster.graph->switches == std::vector<std::string>{"s"});
  CHECK(s.cluster.graph->links[1].one_way);
  CHECK(s.cluster.graph->links[0].latency.value() == approximately(microseconds(2.5)));
  CHECK(s.cluster.graph->routing == topology::Fabric::Routing::hashed);
  CHECK(s.device_types.at("ideal").is_ideal);
  CHECK(std::holds_alternative<std::monostate>(s.dnn));
  REQUIRE(s.operations.size() == 4);
  const auto& compute = std::get<HandOperation::Compute>(s.operations[0].what);
  CHECK(compute.device == "a");
  CHECK(compute.duration.value() == 0.01);
  CHECK(compute.multiprocessors == 0.5);
  CHECK(compute.memory == 0.25);
  const auto& transfer = std::get<HandOperation::Transfer>(s.operations[1].what);
  CHECK(transfer.from == "a");
  CHECK(transfer.to == "b");
  CHECK(transfer.bytes == gigabytes(1));
  CHECK(s.operations[1].after == std::vector<std::string>{"first"});
  const auto& collective = std::get<HandOperation::Collective>(s.operations[2].what);
  CHECK(collective.operation == collective::Operation::all_reduce);
  CHECK(collective.devices == std::vector<std::string>{"b", "a"});
  CHECK(collective.forced.algorithm == collective::Algorithm::ring);
  CHECK(collective.multiprocessors == 0.1);
  CHECK(s.operations[2].place.line == 13);
  CHECK(std::get<HandOperation::Compute>(s.operations[3].what).multiprocessors == 1);
  CHECK_FALSE(holds(s.defaults, "plan.tensor: 1"));
}

TEST_CASE("scenario: a dnn by its times") {
  const Scenario s = must_read(R"(maquette: 1
cluster: {name: pair}
dnn: {timed: {layers: 4, forward: 1 ms, backward: 2 ms, head_forward: 3 ms, boundary: 1 MB}}
training: {global_batch: 32}
plan: {pipeline: {stages: 4}}
)");
  const auto& timed = std::get<TimedDnn>(s.dnn);
  CHECK(timed.layers == 4);
  CHECK(timed.backward.value() == 0.002);
  CHECK(timed.head_forward.value() == 0.003);
  CHECK(timed.head_backward.value() == 0);
  CHECK(timed.boundary == Bytes(1e6));
  CHECK(s.plan.data == 4);  // 16 devices / 4 stages
}

TEST_CASE("scenario: spares do not work, and are taken from the last hosts") {
  const Scenario s = must_read(R"(maquette: 1
cluster:
  hosts: [{name: a, count: 3, type: box}, {name: b, count: 2, type: {base: box,devices: 4,nics: 4}}]
  fabric: {kind: one-switch, link: 400 Gbit/s, latency: 1 us}
  spares: 3
dnn: {name: tiny}
training: {sequence: 2048, global_batch: 32}
)");
  // Hosts of a with 8 devices: two work, the third and both of b are spare.
  CHECK(s.plan.data == 16);
  CHECK(s.cluster.hosts[1].type.devices == 4);
  CHECK(s.cluster.hosts[1].type.name == "box (changed)");
}

TEST_CASE("scenario: names in files beside the scenario, and written out in place") {
  const TemporaryFile file(R"(maquette: 1
cluster:
  hosts: [{name: h, count: 1, type: my/host.yaml}]
dnn: {layers: 2, hidden: 64, heads: 4, head_size: 32, ffn: 128, vocabulary: 100, norm: layer-norm}
stack: {version: "3", source: mine, name: s}
training: {sequence: 16, global_batch: 4}
)");
  std::filesystem::create_directories(file.folder() / "my");
  std::ofstream(file.folder() / "my/host.yaml") << "device: gpu.yaml\ndevices: 1\n";
  std::ofstream(file.folder() / "my/gpu.yaml") << "{ideal: true, name: own}\n";
  const Reading reading = read(file.path(), {{"training.precision", "bf16"}});
  // The device has no peak: that is an error, and shows that all files were found.
  CHECK(reading.text.find("device 'own' has no peak for precision bf16") != std::string::npos);
  std::ofstream(file.folder() / "my/gpu.yaml") << "{ideal: true, peak: {bf16: 1 TFLOP/s}}\n";
  const Reading good = read(file.path());
  INFO(good.text);
  REQUIRE(good.scenario);
  CHECK(good.scenario->cluster.hosts[0].type.device_type == "gpu");
  CHECK(good.scenario->cluster.hosts[0].type.name == "host");
  const auto& dnn = std::get<dnn::Transformer>(good.scenario->dnn);
  CHECK(dnn.norm == dnn::Norm::layer_norm);
  CHECK(dnn.head_size == 32);
  CHECK(good.scenario->stack.version == "3");
}

TEST_CASE("scenario: the same file reads the same, byte for byte") {
  const Scenario a = must_read(whole_scenario), b = must_read(whole_scenario);
  CHECK(a.defaults == b.defaults);
  CHECK(a.places.size() == b.places.size());
  const std::filesystem::path wrong = "tests/golden/errors/many-errors.yaml";
  CHECK(read(wrong).text == read(wrong).text);
}

TEST_CASE("catalog: names are sorted, unknown kinds and folders are empty") {
  enter_repository();
  CHECK(catalog_names(test_catalog, "devices") == std::vector<std::string>{"g100", "ideal"});
  CHECK(catalog_names(test_catalog, "nothing").empty());
  CHECK(catalog_names("no/such/folder", "devices").empty());
}

TEST_CASE("catalog: every entry of the tests can be read on its own") {
  enter_repository();
  Diagnostics diagnostics;
  CHECK(read_device("g100", test_catalog, diagnostics)->memory == gigabytes(80));
  CHECK(read_host("box", test_catalog, diagnostics)->device_type == "g100");
  CHECK(read_cluster("pair", test_catalog, diagnostics)->hosts.at(0).count == 2);
  CHECK(read_dnn("tiny", test_catalog, diagnostics)->vocabulary == 32000);
  CHECK(read_stack("plain", test_catalog, diagnostics)->source == "invented");
  CHECK_FALSE(diagnostics.has_errors());
  CHECK_FALSE(read_device("g10", test_catalog, diagnostics));
  CHECK(diagnostics.text().find("did you mean 'g100'?") != std::string::npos);
}

TEST_CASE("catalog: every entry that users can name can be read") {
  enter_repository();
  const std::filesystem::path catalog = "scenarios/catalog";
  Diagnostics diagnostics;
  int entries = 0;
  const auto all = [&](const std::string& kind, const auto& read_one) {
    for (const std::string& name : catalog_names(catalog, kind)) {
      CAPTURE(name);
      CHECK(read_one(name, catalog, diagnostics).has_value());
      ++entries;
    }
  };
  all("devices", read_device);
  all("hosts", read_host);
  all("clusters", read_cluster);
  all("dnns", read_dnn);
  all("stacks", read_stack);
  CHECK(entries > 20);
  CHECK(diagnostics.text().empty());
}

TEST_CASE("scenario: text that is in no file reads the same, and shows its lines") {
  enter_repository();
  Diagnostics diagnostics;
  const auto right = read_scenario_text("row 7", whole_scenario, {}, test_catalog, diagnostics);
  REQUIRE(right);
  CHECK(right->plan.tensor == must_read(whole_scenario).plan.tensor);
  CHECK_FALSE(read_scenario_text("row 7", "maquette: 2\n", {}, test_catalog, diagnostics));
  CHECK(diagnostics.text().find("row 7:1:11: error") != std::string::npos);
  CHECK(diagnostics.text().find("maquette: 2\n          ^\n") != std::string::npos);
}
