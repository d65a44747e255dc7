"""clang-tidy over the sources in the compile commands, newest change first, clean files remembered.

    python3 .ci/clang_tidy.py BUILD_FOLDER

A file that was clean is looked at again only when it, a header of ours that it includes, its
command, the checks or clang-tidy itself changed. What does not start within TIDY_SECONDS (default
220, 0: no limit) is left for the next run, and the last line says how many files that are.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

TIDY = "clang-tidy-16"  # the first one of Debian 12 that knows std::source_location
FOLDERS = ("sim/", "topology/", "calibrate/", "kernels/", "analysis/")
FILE_LIMIT = 180  # seconds; no check may take for ever
LIMIT = float(os.environ.get("TIDY_SECONDS", "220")) or float("inf")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "maquette-tidy"


def output_of(*command: str, folder: pathlib.Path) -> str:
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout


def headers(root: pathlib.Path, build: pathlib.Path) -> dict[str, list[str]]:
    """Files of ours that each object was made from, as ninja recorded them."""
    result: dict[str, list[str]] = {}
    current: list[str] = []
    for line in output_of("ninja", "-t", "deps", folder=build).splitlines():
        if line and not line[0].isspace():
            current = result.setdefault(line.split(":")[0], [])
        elif line.strip():
            path = (build / line.strip()).resolve()
            if path.is_relative_to(root) and not path.is_relative_to(build):
                current.append(path.relative_to(root).as_posix())
    return result


def newest_first(root: pathlib.Path, files: list[str]) -> list[str]:
    log = output_of("git", "log", "--name-only", "--format=", folder=root).splitlines()
    changed = output_of("git", "status", "--porcelain", folder=root).splitlines()
    place = {}
    for path in [line[3:] for line in changed] + log:
        place.setdefault(path, len(place))
    return sorted(files, key=lambda path: (place.get(path, len(place)), path))


def fingerprint(root: pathlib.Path, common: str, command: str, files: list[str]) -> str:
    digest = hashlib.sha256(f"{common}\n{command}\n".encode())
    for path in sorted(set(files)):
        digest.update(path.encode() + b"\0" + (root / path).read_bytes())
    return digest.hexdigest()


def look(build: pathlib.Path, path: str, mark: pathlib.Path, deadline: float) -> str | None:
    """"" for a clean file, else what is wrong with it; nothing when the time is over."""
    if mark.exists():
        return ""
    if time.monotonic() > deadline:
        return None
    try:
        run = subprocess.run([TIDY, "--quiet", "-p", str(build), path], capture_output=True,
                             text=True, check=False, timeout=FILE_LIMIT)
    except subprocess.TimeoutExpired:
        return f"{path}: error: {TIDY} took longer than {FILE_LIMIT} s\n"
    if run.returncode == 0:
        mark.touch()
        return ""
    said = (run.stderr.strip().splitlines() or ["it said nothing"])[-1]
    return run.stdout or f"{path}: error: {TIDY} ended with {run.returncode}: {said}\n"


def problems(root: pathlib.Path, answers: list[str]) -> list[str]:
    """One line each; what several files say of one header once."""
    lines = (line for answer in answers for line in answer.splitlines() if ": error: " in line)
    return sorted({line.replace(f"{root}/", "").removeprefix("../") for line in lines})


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    root = pathlib.Path(__file__).resolve().parent.parent
    CACHE.mkdir(parents=True, exist_ok=True)
    common = output_of(TIDY, "--version", folder=root) + (root / ".clang-tidy").read_text()
    made_from = headers(root, build)
    marks = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = (build / entry["file"]).resolve().relative_to(root).as_posix()
        if path.startswith(FOLDERS):
            command = entry["command"].replace(str(root), ".")
            files = made_from.get(entry["output"], []) + [path]
            marks[path] = CACHE / fingerprint(root, common, command, files)
    deadline = time.monotonic() + LIMIT
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(
            lambda path: look(build, str(root / path), marks[path], deadline),
            newest_first(root, list(marks))))
    wrong = [answer for answer in answers if answer]
    for line in problems(root, wrong):
        print(line)
    left = answers.count(None)
    print(f"clang-tidy: {answers.count('')} files clean, {len(wrong)} not"
          + (f", {left} left for the next run" if left else ""))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
