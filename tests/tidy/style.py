"""Fails when a file breaks a rule of form that neither compiler nor formatter checks.

Lines of at most 100 characters, sources of at most 400 lines, a first line that says what the file
is, no blanks at line ends, no notes for later, and no source that no build file names or header
that nobody includes.

    python3 tests/tidy/style.py ROOT
"""

import pathlib
import re
import sys

LINE_LENGTH = 100
FILE_LENGTH = 400
# Sources that may be longer, each with its reason.
LONG_FILES: dict[str, str] = {}

# Inputs that are wrong on purpose, and exact outputs.
EXEMPT = "tests/golden/"

FOLDERS = ("sim", "topology", "calibrate", "kernels", "scenarios", "analysis", "tests", "docs")
COMPILED = {".cpp", ".cu"}
HEADERS = {".h", ".cuh"}
SOURCES = COMPILED | HEADERS | {".py"}
TEXTS = SOURCES | {".yaml", ".md", ".build", ".txt", ".csv"}
FIRST_LINE = re.compile(r'^(//|#!|# |""")\s*\S')
# Written in two parts, or this file would break its own rule.
LATER = re.compile(r"\b(TO" + r"DO|FIX" + r"ME)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
IMPORT = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)
NAMED = re.compile(r"'([^']+)'")


def is_exempt(path: pathlib.Path) -> bool:
    return path.as_posix().startswith(EXEMPT)


def wanted(root: pathlib.Path) -> dict[str, str]:
    """Texts of the files that the rules are for, by path."""
    files = [f for f in root.iterdir() if f.is_file()]
    files += [f for folder in FOLDERS for f in (root / folder).glob("**/*") if f.is_file()]
    return {
        f.relative_to(root).as_posix(): f.read_text(encoding="utf-8", errors="surrogateescape")
        for f in sorted(files)
        if (f.suffix in TEXTS or f.name == "maquette") and not is_exempt(f.relative_to(root))
    }


def line_problems(path: str, text: str):
    is_source = pathlib.PurePosixPath(path).suffix in SOURCES
    for number, line in enumerate(text.split("\n"), start=1):
        if is_source and len(line) > LINE_LENGTH:
            yield f"{path}:{number}: error: {len(line)} characters, at most {LINE_LENGTH}"
        if line != line.rstrip():
            yield f"{path}:{number}: error: blank at the end of the line"
        if LATER.search(line):
            yield f"{path}:{number}: error: a note for later: open an issue, or do it"


def file_problems(path: str, text: str):
    suffix = pathlib.PurePosixPath(path).suffix
    lines = text.count("\n")
    if text and not text.endswith("\n"):
        yield f"{path}:{lines + 1}: error: no line end at the end of the file"
    if suffix in COMPILED | HEADERS and lines > FILE_LENGTH and path not in LONG_FILES:
        yield f"{path}:{FILE_LENGTH + 1}: error: {lines} lines, at most {FILE_LENGTH}"
    if suffix in SOURCES and not FIRST_LINE.match(text):
        yield f"{path}:1: error: the first line does not say what the file is"


def built_files(files: dict[str, str]) -> set[str]:
    """Every path that a build file names, relative to its own folder."""
    result = set()
    for path, text in files.items():
        folder, _, name = path.rpartition("/")
        if name == "meson.build":
            result |= {f"{folder}/{named}".lstrip("/") for named in NAMED.findall(text)}
    return result


def dead_files(files: dict[str, str]):
    built = built_files(files)
    included = {header for text in files.values() for header in INCLUDE.findall(text)}
    imported = {module for text in files.values() for module in IMPORT.findall(text)}
    for path in files:
        suffix = pathlib.PurePosixPath(path).suffix
        if suffix == ".py" and pathlib.PurePosixPath(path).stem in imported:
            continue
        if suffix in COMPILED | {".py"} and path not in built:
            yield f"{path}:1: error: dead: no meson.build names it"
        if suffix in HEADERS and path not in included:
            yield f"{path}:1: error: dead: nobody includes it"


def violations(root: pathlib.Path):
    files = wanted(root)
    for path, text in files.items():
        yield from line_problems(path, text)
        yield from file_problems(path, text)
    yield from dead_files(files)
    for path in LONG_FILES:
        if files.get(path, "").count("\n") <= FILE_LENGTH:
            yield f"{path}:1: error: listed as long, but is not"


if __name__ == "__main__":
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "style: no violation")
    sys.exit(bool(found))
