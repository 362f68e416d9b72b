#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documentation becomes a site whose links lead somewhere, and scripts/site.py says so where they do not.      usage: site_test.py

Prints "ok", "FAIL" or "skip" for each check; status 1 after a failure.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
README = "# A project\n\n[page](docs/page.md#second-part), [code](code.cpp), [folder](docs).\n"
PAGE = "# A page\n\n## Second part\n\n[back](../README.md), [here](#second-part), <https://example.org>. `a<b>`\n"


def site(*arguments):
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "site.py"), *map(str, arguments)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def small(folder, readme=README, page=PAGE):
    """A site of two pages."""
    root = Path(folder, "root")
    shutil.rmtree(root, ignore_errors=True)
    (root / "docs").mkdir(parents=True)
    (root / "README.md").write_text(readme)
    (root / "docs" / "page.md").write_text(page)
    (root / "code.cpp").write_text("int a = 1 < 2;\n")
    return site(Path(folder, "out"), "--root", root)


def whole(folder):
    """The pages of this repository: as many as there are files, and each with its anchors."""
    status, output = site(Path(folder, "all"))
    pages = 1 + len(list((ROOT / "docs").rglob("*.md")))
    made = [p for p in Path(folder, "all").rglob("*.html") if "<h1 id=" in p.read_text()]
    links = re.search(r"(\d+) links, 0 broken", output)
    return status == 0 and len(made) == pages and links and int(links.group(1)) > pages, output


def checks(folder):
    yield "the documentation of this repository", *whole(folder)
    status, output = small(folder)
    page = Path(folder, "out", "docs", "page.html").read_text()
    yield "pages, anchors, sources and folders", (status == 0 and "0 broken" in output and '<h2 id="second-part">' in page and 'href="../index.html"' in page
                                                  and "1 &lt; 2" in Path(folder, "out", "code.cpp.html").read_text()), output
    for what, arguments, message in [
        ("a link to no file", {"page": "# A\n\n## Second part\n\n[x](none.md)\n"}, "docs/page.md: there is no 'none.md'"),
        ("a link out of the repository", {"page": "# A\n\n## Second part\n\n[x](../../../etc)\n"}, "docs/page.md: there is no '../../../etc'"),
        ("a link to no heading of another page", {"page": "# A\n"}, "index.html: 'docs/page.html#second-part' has no such heading"),
        ("a link to no heading of the page", {"page": "# A\n\n## Second part\n\n[x](#third)\n"}, "docs/page.html: '#third' has no such heading"),
        ("words that would be lost as HTML", {"page": "# A\n\n## Second part\n\nlist<int>\n"}, "docs/page.md: HTML"),
        ("a page without a title", {"page": "text\n"}, "docs/page.md: no line '# TITLE'"),
    ]:
        status, output = small(folder, **arguments)
        yield what + " is an error", status == 1 and message in output, output
    other = Path(folder, "other")
    other.mkdir()
    (other / "mine").touch()
    status, output = site(other)
    yield "a folder that holds something else is left alone", status == 1 and [p.name for p in other.iterdir()] == ["mine"], output


def main():
    if not shutil.which("cmark-gfm"):
        print("skip the site of the documentation: cmark-gfm is not installed")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory(prefix="hvdize-site-") as folder:
        for what, good, output in checks(folder):
            print("%-4s %s" % ("ok" if good else "FAIL", what), flush=True)
            if not good:
                failed += 1
                print("\n".join("    " + line for line in output.splitlines()[-20:]), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
