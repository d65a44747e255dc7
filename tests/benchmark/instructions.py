"""Counts the instructions of single calls, which a busy machine does not change, beside known ones.

    python3 tests/benchmark/instructions.py RECORD BENCHMARK...

RECORD is tests/golden/instructions.csv; with MAQUETTE_UPDATE_GOLDEN set, it is rewritten. A count
is that of the function, under callgrind; without it, that of the whole process by `perf stat`,
preparation included. Another compiler or library gives other counts: this reports, and fails never.
"""

import csv
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
HEADER = ["case", "tool", "instructions"]


@dataclasses.dataclass(frozen=True)
class Case:
    program: str  # its name, which is also that of the file
    name: str  # of the case in it
    function: str  # counted while it runs, with all it calls


CASES = [
    Case("sharing_benchmark", "4,096 flows of different sizes into one host",
         "sim::network::run(*"),
    Case("sharing_benchmark", "16 rings over 1,024 hosts, all flows through the trunk",
         "sim::network::run(*"),
    Case("sharing_benchmark", "16 rings over 1,024 hosts, strides 1 to 31", "sim::network::run(*"),
    Case("fold_benchmark", "classes of the streams of 29,696 GPUs", "sim::fold::lump(*"),
    Case("evaluation_benchmark", "GPT-3 175B on 512 GPUs, 8 x 8 x 8, folded",
         "sim::training::simulate(*"),
]


def once(program: str, case: Case) -> list[str]:
    """The command that runs the case a single time: any time is long enough."""
    return [program, f"--benchmark_filter=^{case.name}$", "--benchmark_min_time=0.000000001"]


def output_of(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def by_callgrind(program: str, case: Case) -> int:
    with tempfile.TemporaryDirectory() as folder:
        text = output_of(["valgrind", "--tool=callgrind", "--collect-atstart=no",
                          f"--toggle-collect={case.function}",
                          f"--callgrind-out-file={folder}/callgrind", *once(program, case)])
    count = int(re.search(r"Collected : (\d+)", text)[1])
    if count == 0:
        raise SystemExit(f"{case.program}: '{case.name}' never calls {case.function}")
    return count


def by_perf(program: str, case: Case) -> int | None:
    """Nothing where the machine does not count, as many virtual ones."""
    text = output_of(["perf", "stat", "-x,", "-e", "instructions:u", *once(program, case)])
    found = re.search(r"^(\d+),,instructions:u", text, re.MULTILINE)
    return int(found[1]) if found else None


def tool():
    if shutil.which("valgrind"):
        return "callgrind", by_callgrind
    if shutil.which("perf"):
        counted = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"],
                                 capture_output=True, text=True, check=False)
        if re.search(r"^\d+,,instructions:u", counted.stderr, re.MULTILINE):
            return "perf", by_perf
    return None


def known_counts(record: pathlib.Path) -> dict[tuple[str, str], int]:
    if not record.exists():
        return {}
    with record.open(newline="") as file:
        return {(row["case"], row["tool"]): int(row["instructions"])
                for row in csv.DictReader(file)}


def write(record: pathlib.Path, counts: dict[tuple[str, str], int]) -> None:
    with record.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows([*key, count] for key, count in counts.items())


def main(record: pathlib.Path, benchmarks: list[str]) -> int:
    found = tool()
    if found is None or not benchmarks:
        print("skipped: needs Google Benchmark (libbenchmark-dev), and valgrind or a perf that "
              "can count instructions")
        return SKIPPED
    tool_name, count = found
    programs = {pathlib.Path(program).name: program for program in benchmarks}
    known = known_counts(record)
    now = {}
    print(f"{'case':58}{'known':>16}{'by ' + tool_name:>16}{'moved':>10}", flush=True)
    for case in CASES:
        key = (case.name, tool_name)
        now[key] = count(programs[case.program], case)
        before = known.get(key)
        moved = f"{100 * (now[key] / before - 1):+.2f} %" if before else "new"
        print(f"{case.name:58}{f'{before:,}' if before else '-':>16}{now[key]:>16,}{moved:>10}",
              flush=True)
    if os.environ.get("MAQUETTE_UPDATE_GOLDEN"):
        write(record, known | now)
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:]))
