"""Prints what jobs of up to 134,217,728 GPUs cost, beside what they should cost at most.

    python3 tests/benchmark/scale.py MAQUETTE [BENCHMARK...]

A case is a whole run of the program MAQUETTE, reading of the scenario included, or one case of a
Google Benchmark. Times are user and system time of the process, the median of five runs, of fewer
where they are slow; memory is the highest peak. A child starts from the memory of this interpreter:
a peak that does not exceed it is printed as "< ".
"""

import dataclasses
import json
import os
import pathlib
import random
import statistics
import sys
import tempfile

RUNS = 5
SLOW = 10.0  # [s] after so much time in all, a case is not repeated
OPTIONS = ["--json", "--no-files", "--no-advice", "--quiet"]
SCENARIOS = pathlib.Path(__file__).parents[2] / "scenarios" / "scale"

# Every rank a stream of its own, or all of them one class.
RING = """maquette: 1
name: ring all-reduce over 4,096 ranks on one switch
cluster:
  hosts:
    - name: h
      count: 4096
      type: {name: one-gpu, devices: 1, device: ideal, nics: 1, nic: 400 Gbit/s, pcie: 64 GB/s,
             pcie_latency: 100 ns}
  fabric: {kind: one-switch, link: 400 Gbit/s, latency: 0.6 us}
dnn: {timed: {layers: 1, forward: 1 ms, backward: 2 ms, parameters: 64 MiB}}
stack: ideal
training: {sequence: 1, global_batch: 4096, micro_batch: 1}
plan: {data: {sharding: none}}
"""

ALL_REDUCE = """maquette: 1
name: all-reduce over 16,384 GPUs
cluster:
  hosts:
    - {name: h, count: 2048, type: hgx-h100}
  fabric: {kind: rail-optimized, hosts_per_group: 32, link: 400 Gbit/s, latency: 0.6 us,
           oversubscription: 1}
operations:
  - {name: reduce, collective: all-reduce, algorithm: hierarchical, bytes: 64 MiB,
      devices: ["h*.gpu*"]}
"""


@dataclasses.dataclass(frozen=True)
class Case:
    """Targets are upper bounds, of seconds and of megabytes; `source`: arguments of a run, or
    the name of a case of a Google Benchmark."""

    name: str
    source: list[str] | str
    seconds: float
    megabytes: float | None = None
    program: str = "sharing_benchmark"  # of a Google Benchmark


@dataclasses.dataclass(frozen=True)
class Cost:
    seconds: float
    bytes: int | None = None
    tasks: int | None = None
    classes: int | None = None


def stragglers(count: int, hosts: int) -> list[str]:
    """The same devices in every run: their positions decide how many ranks differ."""
    draw = random.Random(1)
    parts = [f"{{part: h{draw.randrange(hosts)}.gpu{draw.randrange(8)}, compute: 80 %}}"
             for _ in range(count)]
    return ["--set", f"stragglers=[{', '.join(parts)}]"] if parts else []


def run_cases(folder: pathlib.Path) -> list[Case]:
    small, large = str(SCENARIOS / "16k.yaml"), str(SCENARIOS / "1m.yaml")
    ring, all_reduce = folder / "ring.yaml", folder / "all-reduce.yaml"
    ring.write_text(RING)
    all_reduce.write_text(ALL_REDUCE)
    cases = [
        Case(f"16,384 GPUs, stragglers: {count}", [small, *stragglers(count, 2048)], seconds, 50)
        for count, seconds in ((0, 0.05), (1, 0.1), (10, 0.3))
    ]
    cases.append(Case("16,384 GPUs, --no-fold", [small, "--no-fold"], 20, 4000))
    cases += [
        Case(f"1,048,576 GPUs, stragglers: {count}", [large, *stragglers(count, 131072)], seconds,
             megabytes)
        for count, seconds, megabytes in ((0, 0.05, 50), (1, 0.1, 50), (10, 0.5, 100),
                                          (100, 2, 400))
    ]
    hosts = 2**24
    cases.append(Case("134,217,728 GPUs, stragglers: 10",
                      [large, "--set", f"cluster.hosts.0.count={hosts}",
                       "--set", f"training.global_batch={2 * hosts}", *stragglers(10, hosts)],
                      0.5, 100))
    cases.append(Case("64 MiB all-reduce, 16,384 GPUs", [str(all_reduce)], 0.05, 50))
    cases.append(Case("ring, 4,096 ranks, --no-fold", [str(ring), "--no-fold"], 0.1))
    cases.append(Case("ring, 4,096 ranks, folded", [str(ring)], 0.005))
    return cases


# Where one target stands beside several cases, it was set for whatever 16,384 flows do.
IN_PROCESS = [
    Case("4,096 flows of different sizes into one host",
         "4,096 flows of different sizes into one host", 0.02),
    Case("16,384 ring flows, all through the trunk",
         "16 rings over 1,024 hosts, all flows through the trunk", 0.03),
    Case("16,384 ring flows, strides 1 to 31",
         "16 rings over 1,024 hosts, strides 1 to 31", 0.03),
    Case("16,384 ring flows, different sizes",
         "16 rings over 1,024 hosts, 16,384 different sizes", 0.03),
    Case("512 GPUs, one evaluation of a loaded job",
         "GPT-3 175B on 512 GPUs, 8 x 8 x 8, folded", 0.0003, program="evaluation_benchmark"),
]


def spawn(command: list[str], output: str, errors: str | None = None):
    """Runs it to its end; what it used. Its output goes to files."""
    to_files = [(os.POSIX_SPAWN_OPEN, number, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                for number, path in ((1, output), (2, errors)) if path]
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=to_files)
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        text = pathlib.Path(output).read_text() if output != os.devnull else ""
        raise SystemExit(f"failed: {' '.join(command)[:200]}\n{text}")
    return usage


def run_once(maquette: str, arguments: list[str], output: pathlib.Path) -> Cost:
    usage = spawn([maquette, "run", *arguments, *OPTIONS], str(output))
    fold = json.loads(output.read_text())["fold"]
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, fold["tasks"],
                fold["task_classes"])


def run_cost(maquette: str, arguments: list[str], output: pathlib.Path) -> Cost:
    costs: list[Cost] = []
    while len(costs) < RUNS and sum(cost.seconds for cost in costs) < SLOW:
        costs.append(run_once(maquette, arguments, output))
    return dataclasses.replace(costs[0],
                               seconds=statistics.median(cost.seconds for cost in costs),
                               bytes=max(cost.bytes for cost in costs))


def benchmark_cost(program: str, name: str, output: pathlib.Path) -> Cost:
    """Of a case of a Google Benchmark, repeated for as long as the library likes."""
    spawn([program, f"--benchmark_filter=^{name}$", f"--benchmark_out={output}",
           "--benchmark_out_format=json"], os.devnull, os.devnull)
    (entry,) = json.loads(output.read_text())["benchmarks"]
    second = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[entry["time_unit"]]
    return Cost(entry["cpu_time"] * second, tasks=entry.get("tasks") or entry.get("events"),
                classes=entry.get("task_classes"))


def time_text(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 0.1 else f"{1e3 * seconds:.3g} ms"


def memory_text(peak: int | None, floor: int) -> str:
    if peak is None:
        return "-"
    return f"{'< ' if peak <= floor else ''}{max(peak, floor) / 1e6:.0f} MB"


def row(case: Case, cost: Cost, floor: int) -> str:
    counts = [f"{int(n):,}" if n is not None else "-" for n in (cost.tasks, cost.classes)]
    limit = f"{case.megabytes:g} MB" if case.megabytes is not None else "-"
    memory = memory_text(cost.bytes, floor)
    misses = [what for what, is_missed in (
        ("time", cost.seconds > case.seconds),
        ("memory", None not in (cost.bytes, case.megabytes)
         and cost.bytes > 1e6 * case.megabytes)) if is_missed]
    verdict = f"over: {', '.join(misses)}" if misses else "within"
    return (f"{case.name:46}{time_text(case.seconds):>9}{time_text(cost.seconds):>10}{limit:>9}"
            f"{memory:>9}{counts[0]:>16}{counts[1]:>11}  {verdict}")


def main(maquette: str, benchmarks: list[str]) -> None:
    print(f"{'case':46}{'target':>9}{'CPU time':>10}{'target':>9}{'memory':>9}{'tasks':>16}"
          f"{'classes':>11}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases = run_cases(folder)
        # What a program that does nothing shows; it differs a little from one to the next.
        floor = int(1.02 * 1024 * spawn(["true"], os.devnull).ru_maxrss)
        for case in cases:
            print(row(case, run_cost(maquette, case.source, folder / "output"), floor), flush=True)
        if not benchmarks:
            print("skipped: the cases within one process need Google Benchmark (libbenchmark-dev)")
            return
        programs = {pathlib.Path(program).name: program for program in benchmarks}
        for case in IN_PROCESS:
            cost = benchmark_cost(programs[case.program], case.source, folder / "benchmark.json")
            print(row(case, cost, floor), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
