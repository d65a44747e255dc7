"""Small wrong trees, each with the line that style.py must print."""

import unittest

import style
from small_tree import small_tree

BUILD = "lib = static_library('a', 'a.cpp')\n"
GOOD = {
    "sim/meson.build": BUILD,
    "sim/a.cpp": '// A file.\n#include "sim/a.h"\n',
    "sim/a.h": "// A.\n",
}


def found(changes: dict[str, str]) -> list[str]:
    with small_tree(GOOD | changes) as root:
        return list(style.violations(root))


class Style(unittest.TestCase):
    def test_nothing_wrong(self):
        self.assertEqual(found({}), [])

    def test_long_line(self):
        self.assertEqual(found({"sim/a.h": "// " + "x" * 97 + "\n"}), [])
        self.assertEqual(
            found({"sim/a.h": "// " + "x" * 98 + "\n"}),
            ["sim/a.h:1: error: 101 characters, at most 100"],
        )

    def test_characters_not_bytes(self):
        self.assertEqual(found({"sim/a.h": "// " + "\u00e9" * 97 + "\n"}), [])

    def test_long_file(self):
        self.assertEqual(found({"sim/a.h": "// A.\n" * 400}), [])
        self.assertEqual(
            found({"sim/a.h": "// A.\n" * 401}), ["sim/a.h:401: error: 401 lines, at most 400"]
        )

    def test_blank_at_the_end(self):
        self.assertEqual(
            found({"docs/a.md": "text \n"}), ["docs/a.md:1: error: blank at the end of the line"]
        )

    def test_golden_files_are_as_they_are(self):
        self.assertEqual(found({"tests/golden/errors/a.yaml": "a: 1 \nb: 2"}), [])

    def test_line_end(self):
        self.assertEqual(
            found({"sim/a.h": "// A."}),
            ["sim/a.h:1: error: no line end at the end of the file"],
        )

    def test_note_for_later(self):
        for word in ("TO" + "DO", "FIX" + "ME"):
            self.assertEqual(
                found({"sim/a.h": f"// A.\n// {word}: more\n"}),
                ["sim/a.h:2: error: a note for later: open an issue, or do it"],
            )

    def test_first_line(self):
        self.assertEqual(
            found({"sim/a.h": "#pragma once\n"}),
            ["sim/a.h:1: error: the first line does not say what the file is"],
        )

    def test_dead_source(self):
        self.assertEqual(
            found({"sim/b.cpp": "// B.\n"}), ["sim/b.cpp:1: error: dead: no meson.build names it"]
        )
        # The name of a file in another folder does not count.
        self.assertEqual(len(found({"topology/a.cpp": "// A.\n"})), 1)

    def test_source_of_a_build_file_above(self):
        build = BUILD + "other = static_library('b', 'b/b.cpp')\n"
        self.assertEqual(found({"sim/meson.build": build, "sim/b/b.cpp": "// B.\n"}), [])

    def test_dead_script(self):
        script = {"tests/a.py": '"""A."""\n'}
        self.assertEqual(found(script), ["tests/a.py:1: error: dead: no meson.build names it"])
        user = {"tests/b.py": '"""B."""\nimport a\n', "tests/meson.build": "test('b.py')\n"}
        self.assertEqual(found(script | user), [])

    def test_dead_header(self):
        self.assertEqual(
            found({"sim/b.h": "// B.\n"}), ["sim/b.h:1: error: dead: nobody includes it"]
        )

    def test_long_list_is_kept_short(self):
        style.LONG_FILES["sim/a.h"] = "a reason"
        try:
            self.assertEqual(found({"sim/a.h": "// A.\n" * 401}), [])
            self.assertEqual(found({}), ["sim/a.h:1: error: listed as long, but is not"])
        finally:
            del style.LONG_FILES["sim/a.h"]


if __name__ == "__main__":
    unittest.main()
