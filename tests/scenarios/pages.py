"""The commands that README.md shows for pages and comparisons; their pages stand alone.

    python3 tests/scenarios/pages.py MAQUETTE REPOSITORY
"""

import html.parser
import json
import pathlib
import subprocess
import sys
import tempfile

VOID = {"meta"}


class Page(html.parser.HTMLParser):
    """Checks that what is opened is closed, in order, and that nothing comes from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.open, self.count = [], {}
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "iframe", "img"), tag
        names = [name for name, value in attributes]
        assert not {"src", "href", "onclick"} & set(names), names
        assert len(names) == len(set(names)), names
        for name, value in attributes:
            assert value is not None and "nan" not in value and "inf" not in value, (name, value)
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> in {self.open}"
        self.open.pop()


def main(program, repository):
    with tempfile.TemporaryDirectory() as folder:
        def maquette(*arguments, expected=0):
            done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)
            assert done.returncode == expected, (arguments, done.stdout, done.stderr)
            return done.stdout

        quickstart = f"{repository}/scenarios/quickstart.yaml"
        maquette("run", quickstart, "--no-advice", "--quiet")
        assert maquette("report", "out/quickstart/result.h5") == "out/quickstart/report.html\n"
        of_file = pathlib.Path(folder, "out/quickstart/report.html").read_text()
        assert Page(of_file).count["svg"] == 5
        # Of the scenario itself it is the same, but for what run adds.
        maquette("report", quickstart, "-o", "direct.html", "--quiet")
        assert pathlib.Path(folder, "direct.html").read_text() == of_file
        maquette("report", "out/quickstart/result.h5", f"{repository}/scenarios/stragglers.yaml",
                 "-o", "two.html", "--quiet")
        assert Page(pathlib.Path(folder, "two.html").read_text()).count["svg"] == 10
        assert "no.h5" in subprocess.run([program, "report", "no.h5"], cwd=folder,
                                         capture_output=True, text=True).stderr
        maquette("report", quickstart, "--set", "plan.tensor=3", expected=1)

        maquette("study", f"{repository}/scenarios/studies/plans.yaml", "--quiet")
        page = pathlib.Path(folder, "out/plans/report.html").read_text()
        Page(page)
        for title in ("Pareto front", "Over two axes", "One axis at a time",
                      "How sure the best one is", "Where the time goes", "Candidates", "Why not",
                      "Assumed"):
            assert f"<h2>{title}</h2>" in page, title

        compare = ("study", "compare", quickstart, quickstart, "--set-b", "plan.tensor=4")
        text = maquette(*compare)
        assert "is faster" in text and "break even" in text, text
        found = json.loads(maquette(*compare, "--json", "--prices",
                                    f"{repository}/scenarios/studies/budget-70b.yaml"))
        faster, other = ("a", "b") if found["faster"] == "a" else ("b", "a")
        rates = {side: found[side]["tokens_per_second"] for side in "ab"}
        assert rates[faster] >= rates[other]
        assert abs(found["break_even_cost_ratio"] - rates[other] / rates[faster]) < 1e-12
        # Four hosts at 49.24 USD/h.
        assert abs(found["a"]["cost_per_hour"] - 196.96) < 1e-9
        assert 0 <= found["probability_a_is_faster"] <= 1
        assert {one["path"] for one in found["break_even"]} == {"cluster.fabric.link"}
        # With the value found, both are as fast.
        for one in found["break_even"]:
            if one["value"] is None:
                continue
            value = f"cluster.fabric.link={one['value']} {one['unit']}"
            again = json.loads(maquette(*compare, "--json", f"--set-{one['side']}", value))
            ratio = again["a"]["tokens_per_second"] / again["b"]["tokens_per_second"]
            assert abs(ratio - 1) < 0.002, (one, ratio)
        maquette(*compare, "--break-even", "plan.tensor.x", expected=1)
        json.loads(maquette("catalog", "study-schema"))
    print("pages: written, closed, compared")


if __name__ == "__main__":
    main(*sys.argv[1:])
