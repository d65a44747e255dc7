"""The table of README.md that says how far predictions are from measured runs, made again.

    python3 tests/scenarios/accuracy.py MAQUETTE README.md FOLDER

FOLDER holds the files of measured runs that the table names, in folders `tune` and `check`; without
it this is skipped. With MAQUETTE_UPDATE_GOLDEN set, the table is rewritten.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

SKIPPED = 77
ROW = re.compile(r"^\| `((?:tune|check)/\w+)`((?: `[^`]*`)?) \| ([^|]*) \|(.*)\|$", re.MULTILINE)


def figures(program, folder, file, options):
    """The cells of one row that are results."""
    done = subprocess.run([program, "validate", f"{folder}/{file}.yaml", "--json", "--quiet",
                           *shlex.split(options.strip().strip("`"))],
                          capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    tau, coverage = found["ranking"]["kendall_tau"], found["interval_coverage"]
    return [str(found["predicted"]), f"{found['mean_absolute_percentage_error']:.1f} %",
            f"{found['median']:.1f} %", f"{found['bias']:+.1f} %",
            "" if tau is None else f"{tau:.2f}",
            f"{100 * coverage['inside'] / coverage['runs']:.0f} %"]


def main(program, readme, folder):
    if not pathlib.Path(folder).is_dir():
        print(f"skipped: no measured runs in {folder}")
        return SKIPPED
    path = pathlib.Path(readme)
    text = path.read_text()
    rows = list(ROW.finditer(text))
    assert len(rows) >= 8, "the table of README.md is not found"
    made = text
    for row in rows:
        file, options, about, _ = row.groups()
        cells = " | ".join(figures(program, folder, file, options))
        made = made.replace(row[0], f"| `{file}`{options} | {about} | {cells} |")
    if os.environ.get("MAQUETTE_UPDATE_GOLDEN"):
        path.write_text(made)
    for before, after in zip(text.splitlines(), made.splitlines()):
        if before != after:
            print(f"- {before}\n+ {after}")
    return made != text and not os.environ.get("MAQUETTE_UPDATE_GOLDEN")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
