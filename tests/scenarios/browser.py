"""All text of the drawings of pages is inside them, and none lies on another, in headless Chromium.

    python3 tests/scenarios/browser.py MAQUETTE REPOSITORY

Without Chromium it is skipped.
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--window-size=1200,2400")
MEASURE = """<script>
const found = {drawings: 0, texts: 0, outside: [], covered: []};
for (const svg of document.querySelectorAll('svg')) {
  ++found.drawings;
  const all = svg.getBoundingClientRect(), seen = [];
  for (const text of svg.querySelectorAll('text')) {
    ++found.texts;
    const one = text.getBoundingClientRect();
    if (one.left < all.left - 1 || one.right > all.right + 1 || one.top < all.top - 1 ||
        one.bottom > all.bottom + 1) found.outside.push(text.textContent);
    for (const [other, name] of seen) {
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > 2 && down > 6) found.covered.push(name + ' / ' + text.textContent);
    }
    seen.push([one, text.textContent]);
  }
}
document.documentElement.setAttribute('data-found', JSON.stringify(found));
</script></body></html>
"""

WRONG = """<!DOCTYPE html><html><body><svg viewBox="0 0 300 60" width="300">
<text x="280" y="20">outside</text><text x="10" y="40">below</text><text x="14" y="42">above</text>
</svg></body></html>
"""


def measured(browser, page, folder):
    """Counts and faults of a page as the browser lays it out."""
    copy = pathlib.Path(folder, "measured.html")
    copy.write_text(page.read_text().replace("</body></html>\n", MEASURE))
    done = subprocess.run([browser, *FLAGS, f"--user-data-dir={folder}/profile", "--dump-dom",
                           copy.as_uri()], capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r'data-found="([^"]*)"', done.stdout)
    assert found, (page.name, done.stderr[-2000:])
    return json.loads(html.unescape(found[1]))


def main(program, repository):
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        print(f"skipped: none of {', '.join(BROWSERS)} is installed")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        def maquette(*arguments):
            done = subprocess.run([program, *arguments, "--quiet"], cwd=folder,
                                  capture_output=True, text=True, check=False)
            assert done.returncode == 0, (arguments, done.stdout, done.stderr)

        wrong = pathlib.Path(folder, "wrong.html")
        wrong.write_text(WRONG)
        found = measured(browser, wrong, folder)
        assert found["outside"] == ["outside"] and found["covered"] == ["below / above"], found

        for study in ("plans", "fabric", "budget-70b"):
            maquette("study", f"{repository}/scenarios/studies/{study}.yaml", "--out", study)
        maquette("report", f"{repository}/scenarios/quickstart.yaml",
                 f"{repository}/scenarios/stragglers.yaml", "-o", "two.html")
        faults = []
        for name in ("plans/report.html", "fabric/report.html", "budget-70b/report.html",
                     "two.html"):
            found = measured(browser, pathlib.Path(folder, name), folder)
            print(f"{name}: {found['drawings']} drawings, {found['texts']} texts")
            assert found["drawings"] > 0 and found["texts"] > 20, name
            faults += [f"{name}: outside: {text}" for text in found["outside"]]
            faults += [f"{name}: covered: {text}" for text in found["covered"]]
        print("\n".join(faults))
        return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
