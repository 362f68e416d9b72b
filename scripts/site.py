#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documentation as a static site: README.md and docs/ as HTML pages, with the sources they link to.

usage: site.py OUT [--root FOLDER]      OUT: the folder of the pages, made anew when it is there and is a site; needs cmark-gfm

Every link and every anchor of the result is checked; nothing is looked up on the network. Status 1, with the page named, where one leads nowhere.
"""
import argparse
import html
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

MARK = ".hvdize-site"  # stands in the folder of a site: others are not removed
STYLE = """body{margin:0;font:16px/1.5 system-ui,sans-serif;color:#1c2430;background:#fff}
nav{padding:1rem;background:#f3f5f8;font-size:.9rem}nav a{display:block;padding:.1rem 0}nav b{display:block;margin-top:.7rem}
main{padding:1rem;max-width:60rem;overflow-x:auto}a{color:#0b57a4;text-decoration:none}a:hover{text-decoration:underline}
pre{background:#f6f8fa;padding:.7rem;overflow-x:auto;font-size:.85rem}code{font-family:ui-monospace,monospace;font-size:.9em}
table{border-collapse:collapse;display:block;overflow-x:auto}th,td{border:1px solid #cdd5df;padding:.3rem .6rem;text-align:left;vertical-align:top}
img{max-width:100%}@media(min-width:60rem){body{display:flex}nav{width:14rem;min-height:100vh;flex:none;box-sizing:border-box}}
"""
# The order of the pages; what stands nowhere here comes last.
SECTIONS = [
    ("Start", ["README.md", "docs/quick-start-torch.md", "docs/quick-start-cmake.md", "docs/quick-start-core.md"]),
    ("Use", ["docs/command-line.md", "docs/wrapper.md", "docs/tuning.md", "docs/distribution.md", "docs/transformations.md", "docs/diagnostics/README.md",
             "docs/packages.md", "docs/dependencies.md"]),
    ("Frameworks", ["docs/torch.md", "docs/torch-forms.md", "docs/compatibility.md", "docs/core-api.md", "docs/networks.md", "docs/cuda.md"]),
    ("Inside", ["docs/promises.md", "docs/architecture.md", "docs/vocabulary.md", "docs/writing-a-dialect.md", "docs/contributing.md"]),
]


class Fault(Exception):
    pass


def slug(title):
    """The anchor that code hosts make of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def with_anchors(body):
    seen = {}

    def heading(match):
        name = slug(html.unescape(re.sub(r"<[^>]*>", "", match.group(2))))
        count = seen[name] = seen.get(name, -1) + 1
        return '<h%s id="%s">%s</h%s>' % (match.group(1), name + ("-%d" % count if count else ""), match.group(2), match.group(1))

    return re.sub(r"<h([1-6])>(.*?)</h\1>", heading, body, flags=re.S)


class Page(HTMLParser):
    """Where the links of a page lead, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.links.append(value or "")


class Site:
    def __init__(self, root, out):
        self.root, self.out = root, out
        self.pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
        self.titles = {page: self.title(page) for page in self.pages}
        self.sources = set()

    def title(self, page):
        found = re.search(r"^# (.+?)\s*$", page.read_text(), re.M)
        if not found:
            raise Fault("%s: no line '# TITLE'" % page.relative_to(self.root))
        return found.group(1).replace("`", "")

    def target(self, page):
        """The file of the site for a file or folder of the repository."""
        path = page.relative_to(self.root)
        if page == self.root / "README.md":
            return self.out / "index.html"
        if page in self.titles:
            return self.out / path.with_suffix(".html") if path.name != "README.md" else self.out / path.parent / "index.html"
        if page.suffix in (".svg", ".png", ".csv"):
            return self.out / path
        return self.out / (str(path) + ("/index.html" if page.is_dir() else ".html"))

    def relink(self, page, body):
        def link(match):
            address = unquote(html.unescape(match.group(2)))
            if re.match(r"[a-z]+:|#", address):
                return match.group(0)
            path, _, anchor = address.partition("#")
            file = Path(os.path.normpath(page.parent / path))
            if not file.exists() or self.root not in file.parents:
                raise Fault("%s: there is no '%s'" % (page.relative_to(self.root), address))
            if file not in self.titles:
                self.sources.add(file)
            return match.group(1) + html.escape(self.between(page, file) + ("#" + anchor if anchor else "")) + '"'

        return re.sub(r'((?:href|src)=")([^"]*)"', link, body)

    def between(self, page, file):
        return os.path.relpath(self.target(file), self.target(page).parent)

    def navigation(self, page):
        listed = [self.root / name for _, names in SECTIONS for name in names]
        others = [p for p in self.pages if p not in listed and p.parent.name != "diagnostics"]
        lines = []
        for section, pages in [*((s, [self.root / n for n in names]) for s, names in SECTIONS), ("More", others)]:
            present = [p for p in pages if p in self.titles]
            lines += ["<b>%s</b>" % section] if present else []
            lines += ['<a href="%s">%s</a>' % (self.between(page, p), html.escape(self.titles[p])) for p in present]
        return "\n".join(lines)

    def write(self, page, title, body):
        file = self.target(page)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">\n'
                        "<title>%s</title>\n<style>%s</style></head>\n<body><nav>%s</nav>\n<main>%s</main></body></html>\n"
                        % (html.escape(title), STYLE, self.navigation(page), body))

    def build(self):
        for page in self.pages:
            done = subprocess.run(["cmark-gfm", "-e", "table", "-e", "autolink", str(page)], capture_output=True, text=True)
            if done.returncode != 0:
                raise Fault("cmark-gfm, %s: %s" % (page, done.stderr.strip()))
            if "<!-- raw HTML omitted -->" in done.stdout:
                raise Fault("%s: HTML, or <...> outside of code: it would be lost" % page.relative_to(self.root))
            self.write(page, self.titles[page], self.relink(page, with_anchors(done.stdout)))
        for file in sorted(self.sources):
            name = str(file.relative_to(self.root))
            if file.is_dir():
                self.write(file, name, "<h1>%s</h1><ul>%s</ul>" % (html.escape(name), "".join("<li>%s</li>" % html.escape(p.name) for p in sorted(file.iterdir()))))
            elif self.target(file).suffix == ".html":
                self.write(file, name, "<h1>%s</h1><pre>%s</pre>" % (html.escape(name), html.escape(file.read_text())))
            else:
                self.target(file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, self.target(file))


def broken_links(out):
    """Of the pages as they lie there, whoever made them."""
    pages = {file: Page(file.read_text()) for file in sorted(out.rglob("*.html"))}
    problems = []
    for file, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = unquote(link).partition("#")
            goal = Path(os.path.normpath(file.parent / path)) if path else file
            if not goal.is_file():
                problems.append("%s: there is no '%s'" % (file.relative_to(out), link))
            elif anchor and anchor not in pages.get(goal, Page("")).anchors:
                problems.append("%s: '%s' has no such heading" % (file.relative_to(out), link))
    return len(pages), sum(len(page.links) for page in pages.values()), problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    if not shutil.which("cmark-gfm"):
        print("site.py: cmark-gfm is missing (a Debian package)", file=sys.stderr)
        return 1
    if out.exists() and any(out.iterdir()) and not (out / MARK).exists():
        print("site.py: '%s' holds something else than a site" % out, file=sys.stderr)
        return 1
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / MARK).touch()
    try:
        Site(arguments.root.resolve(), out).build()
    except Fault as fault:
        print("site.py: %s" % fault, file=sys.stderr)
        return 1
    pages, links, problems = broken_links(out)
    for problem in problems:
        print("site.py: " + problem, file=sys.stderr)
    print("%d pages, %d links, %d broken" % (pages, links, len(problems)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
