"""A tree of small files in a temporary folder, for the tests of the checks."""

import contextlib
import pathlib
import tempfile


@contextlib.contextmanager
def small_tree(files: dict[str, str]):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        yield root
