"""Small wrong trees, each with the line that layers.py must print."""

import unittest

import layers
from small_tree import small_tree


def found(files: dict[str, str]) -> list[str]:
    with small_tree(files) as root:
        return list(layers.violations(root))


def including(path: str, header: str) -> list[str]:
    return found({path: f"// A file.\n{header}\n"})


class Layers(unittest.TestCase):
    def test_row_below(self):
        for path, header in [
            ("sim/plan/memory.cpp", "sim/dnn/transformer.h"),
            ("sim/dnn/transformer.cpp", "sim/base/quantity.h"),
            ("sim/plan/plan.cpp", "sim/plan/plan.h"),
            ("sim/main.cpp", "sim/command/options.h"),
            ("sim/command/run.cpp", "analysis/json.h"),
            ("calibrate/measure/gemm.cpp", "kernels/cuda/gemm.h"),
        ]:
            with self.subTest(path=path, header=header):
                self.assertEqual(including(path, f'#include "{header}"'), [])

    def test_row_above(self):
        self.assertEqual(
            including("sim/base/units.cpp", '#include "sim/plan/plan.h"'),
            ["sim/base/units.cpp:2: error: sim/base may not use sim/plan"],
        )

    def test_same_row(self):
        for path, header in [
            ("topology/cluster.cpp", "sim/dnn/stack.h"),
            ("sim/collective/ring.h", "topology/cluster.h"),
            ("calibrate/measure/run.cpp", "sim/network/system.h"),
            ("sim/command/run.cpp", "sim/main.cpp"),
        ]:
            with self.subTest(path=path, header=header):
                self.assertEqual(len(including(path, f'#include "{header}"')), 1)

    def test_every_pair_goes_one_way(self):
        for a in layers.LEVEL:
            for b in layers.LEVEL:
                if a != b:
                    self.assertFalse(layers.may_include(a, b) and layers.may_include(b, a), (a, b))

    def test_library_in_its_place(self):
        self.assertEqual(including("sim/scenario/tree.cpp", "#include <yaml-cpp/yaml.h>"), [])
        self.assertEqual(
            including("analysis/json.cpp", "#include <yaml-cpp/yaml.h>"),
            ["analysis/json.cpp:2: error: yaml-cpp/yaml.h belongs in sim/scenario"],
        )
        self.assertEqual(len(including("analysis/summary.cpp", "#include <hdf5.h>")), 1)
        handle = '#include "calibrate/profile/hdf5_handle.h"'
        self.assertEqual(len(including("analysis/summary.cpp", handle)), 1)
        self.assertEqual(including("analysis/hdf5_image.h", handle), [])
        self.assertEqual(len(including("sim/training/job.h", "#include <cuda_runtime.h>")), 1)

    def test_unknown_module(self):
        self.assertEqual(
            found({"sim/magic/wand.cpp": "// A file.\n"}),
            ["sim/magic/wand.cpp:1: error: in no module of the layer table"],
        )

    def test_short_path(self):
        self.assertEqual(len(including("sim/plan/plan.cpp", '#include "plan.h"')), 1)

    def test_indented_and_cuda(self):
        self.assertEqual(len(including("kernels/cuda/a.cu", '#  include "sim/engine/time.h"')), 1)


if __name__ == "__main__":
    unittest.main()
