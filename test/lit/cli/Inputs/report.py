# SPDX-License-Identifier: Apache-2.0
"""Checks reports.      usage: report.py json SCHEMA FILE | sarif FILE | html FILE"""
import html.parser
import json
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


def validate(value, schema, root, at="report"):
    """The part of JSON Schema that docs/report.schema.json uses."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    unknown = set(schema) - {"$schema", "title", "$defs", "type", "enum", "required", "properties", "additionalProperties", "items", "pattern"}
    assert not unknown, "the schema uses %s" % unknown
    assert "enum" not in schema or value in schema["enum"], "%s: %r is none of %s" % (at, value, schema.get("enum"))
    if "type" in schema:
        assert type(value) is TYPES[schema["type"]], "%s: %r is no %s" % (at, value, schema["type"])
    assert "pattern" not in schema or re.search(schema["pattern"], value), "%s: %r" % (at, value)
    for name in schema.get("required", []):
        assert name in value, "%s lacks '%s'" % (at, name)
    if isinstance(value, dict):
        for name, part in value.items():
            assert name in schema["properties"], "%s: the schema has no '%s'" % (at, name)
            validate(part, schema["properties"][name], root, at + "." + name)
    if isinstance(value, list):
        for i, part in enumerate(value):
            validate(part, schema["items"], root, "%s[%d]" % (at, i))


def sarif(log):
    """What the standard asks for, as far as we write it."""
    assert log["version"] == "2.1.0" and len(log["runs"]) == 1
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "hvdize" and len({r["id"] for r in rules}) == len(rules)
    assert run["results"], "no results"
    for r in run["results"]:
        assert rules[r["ruleIndex"]]["id"] == r["ruleId"] and r["level"] in ("note", "warning", "error") and r["message"]["text"]
        for location in r["locations"] + r.get("relatedLocations", []):
            place = location["physicalLocation"]
            assert " " not in place["artifactLocation"]["uri"]
            region = place.get("region")
            assert not region or region["startLine"] >= 1 and region.get("startColumn", 1) >= 1
            assert not region or (region.get("endLine", region["startLine"]), region.get("endColumn", 1 << 30)) >= (region["startLine"], region.get("startColumn", 1))
    print("%d results, %s" % (len(run["results"]), " ".join(sorted({r["ruleId"] for r in run["results"]}))))


class Page(html.parser.HTMLParser):
    """Every tag is closed, every link leads to a place on the page, and nothing is loaded."""
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links = [], set(), set()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert "src" not in attributes and tag not in ("link", "script", "img"), "the page loads something: %s" % tag
        if tag not in ("meta", "br"):
            self.open.append(tag)
        if "id" in attributes:
            assert attributes["id"] not in self.ids, "'%s' twice" % attributes["id"]
            self.ids.add(attributes["id"])
        if "href" in attributes:
            assert attributes["href"].startswith("#")
            self.links.add(attributes["href"][1:])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "</%s> closes nothing" % tag


def page(text):
    p = Page()
    p.feed(text)
    assert not p.open, "not closed: %s" % p.open
    assert p.links and p.links <= p.ids, "links that lead nowhere: %s" % (p.links - p.ids)
    print("%d places, %d links" % (len(p.ids), len(p.links)))


form, *files = sys.argv[1:]
texts = [open(f, encoding="utf-8").read() for f in files]
if form == "json":
    schema = json.loads(texts[0])
    validate(json.loads(texts[1]), schema, schema)
elif form == "sarif":
    sarif(json.loads(texts[0]))
else:
    page(texts[0])
