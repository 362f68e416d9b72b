#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/compatibility.py: the list, the oracles' patches, how results are judged, and four small programs from end to end.

usage: compatibility_test.py BUILD        prints "ok WHAT" or "FAIL WHAT" for each test
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
SCRIPT = SOURCE / "scripts" / "compatibility.py"
sys.path.insert(0, str(SCRIPT.parent))
import compatibility as tool  # noqa: E402

BUILD = None

TRAINER = """#include <hvd/hvd.hpp>
#include <cstdio>
int main() {
  hvd::manual_seed(3);
  const int samples = 96;
  const int batch = 16;
  auto images = hvd::randn({samples, 5}, hvd::kFloat64), wanted = hvd::randn({samples, 2}, hvd::kFloat64);
  hvd::nn::Linear model(5, 2);
  model->to(hvd::kFloat64);
  hvd::optim::SGD optimizer(model->parameters(), hvd::optim::SGDOptions(0.05));
  for (int i = 0; i + batch <= samples; i += batch) {
    optimizer.zero_grad();
    auto loss = hvd::nn::functional::mse_loss(model->forward(images.slice(0, i, i + batch)), wanted.slice(0, i, i + batch));
    loss.backward();
    optimizer.step();
    std::printf("%.9f\\n", loss.item<double>());
  }
  return 0;
}
"""


MAIN = """#include <cstdlib>
#include "lib/train.hpp"
int main(int, char** argv) {
  hvd::manual_seed(3);
  run(std::atoi(argv[1]), std::atof(argv[2]));
  return 0;
}
"""
HEADER = """#pragma once
#include <hvd/hvd.hpp>
void run(int batch, double rate);
inline hvd::Tensor draw(int columns) { return hvd::randn({96, columns}, hvd::kFloat64); }
"""
TRAIN = """#include <cstdio>
#include "train.hpp"
""" + TRAINER[TRAINER.index("int main"):].replace("int main()", "void run(int batch, double rate)").replace("  return 0;\n", "").replace(
    "  hvd::manual_seed(3);\n", "").replace("  const int batch = 16;\n", "").replace("0.05", "rate").replace(
        "hvd::randn({samples, 5}, hvd::kFloat64)", "draw(5)").replace("hvd::randn({samples, 2}, hvd::kFloat64)", "draw(2)")


class List(unittest.TestCase):
    def entry(self, folder, **more):
        source = Path(folder, "a.cpp")
        source.write_text("int main() {}\n")
        return {"repository": "o/n", "path": "a.cpp", "file": str(source), **more}

    def read(self, folder, content):
        path = Path(folder, "list.json")
        path.write_text(json.dumps(content))
        return tool.read_list(path)

    def test_good(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(len(self.read(folder, [self.entry(folder, run=["1"])])), 1)

    def test_bad(self):
        with tempfile.TemporaryDirectory() as folder:
            good = self.entry(folder)
            for content, message in (({}, "an array"), ([{**good, "path": None}], "'path' is missing"),
                                     ([{**good, "argz": []}], "unknown entry 'argz'"),
                                     ([{**good, "file": folder + "/b.cpp"}], "there is no file"),
                                     ([{**good, "sources": ["b.cpp"]}], "need a 'folder'"),
                                     ([{**good, "patch": {"a.cpp": ["s/a/b/"]}}], "need a 'folder'"),
                                     ([{**good, "file": "a.cpp", "folder": folder, "sources": ["c.cpp"]}], "there is no file 'c.cpp'")):
                with self.assertRaisesRegex(tool.ListError, message):
                    self.read(folder, content)


class Patches(unittest.TestCase):
    def test_ranks_are_put_in(self):
        scripts = tool.scripts_for({"file": "a.cpp", "per_rank": ["s/batch = 64/batch = {N*64}/", "s/0.01/{N*0.01}/"]}, "per_rank", 3)
        self.assertEqual(scripts, {"a.cpp": ["s/batch = 64/batch = 192/", "s/0.01/0.03/"]})
        self.assertEqual(tool.patched("batch = 64; lr = 0.01;", scripts["a.cpp"]), "batch = 192; lr = 0.03;")

    def test_scripts_of_several_files(self):
        entry = {"file": "a.cpp", "patch": {"b.hpp": ["s/8/{N*8}/"], "c.hpp": ["s/x/y/"]}}
        self.assertEqual(tool.scripts_for(entry, "patch", 2), {"b.hpp": ["s/8/16/"], "c.hpp": ["s/x/y/"]})

    def test_patch_without_effect_is_an_error(self):
        with self.assertRaisesRegex(tool.ListError, "changes nothing"):
            tool.patched("epochs = 10", ["s/epochs = 20/epochs = 1/"])

    def test_bad_script(self):
        with self.assertRaisesRegex(tool.ListError, "sed -E"):
            tool.patched("a", ["s/a/b"])


class Judgement(unittest.TestCase):
    def test_rewrites(self):
        refusal = "a.cpp:1:2: error: cannot say [HVD3001]\nb.cpp:1:2: error: nor this [HVD3002]\na.cpp:2:2: error: cannot say [HVD3001]\n"
        broken_input = "a.cpp:1:10: fatal error: 'x.h' file not found\n"
        for arguments, expected in (
                (("timeout", "", "a", None), ("broken", "no end within the time limit")),
                ((0, "", "a", "b"), ("accepted", "")), ((0, "", "a", "a"), ("nothing to do", "")),
                ((1, refusal, "a", None), ("refused", "HVD3001 HVD3002")),
                ((1, refusal, "a", "b"), ("broken", "refused, and yet a file was written")),
                ((1, "", "a", None), ("broken", "refused without an ID")),
                ((3, broken_input, "a", None), ("does not build", "fatal error: 'x.h' file not found"))):
            self.assertEqual(tool.judge_rewrite(*arguments), expected)
        for status, messages in ((-11, ""), (2, "cannot read"), (0, "")):
            self.assertEqual(tool.judge_rewrite(status, messages, "a", None)[0], "broken")

    def test_refusal_at_run_time(self):
        self.assertEqual(tool.ended_with("hvd: rank 1: ended by exception std::runtime_error: HVD4002: mse_loss compares [4, 1] with [4]\n"), "HVD4002")
        self.assertEqual(tool.ended_with("2 ranks: exit status 134 (signal 6), 0 was expected\n"), "")

    def test_largest_difference(self):
        rows = [["global", "1", "equal", "equal", "0", "-", "equal"], ["global", "3", "equal", "equal", "2.5e-12", "w", "equal"],
                ["global", "4", "equal", "equal", "-", "-", "equal"]]
        self.assertEqual(tool.worst(rows), (2.5e-12, "3 ranks, w", ["equal"] * 3))

    def test_page_counts(self):
        entries = [{"repository": "a/b", "path": "x.cpp"}, {"repository": "a/b", "path": "y.cpp"}, {"repository": "c/d", "path": "z.cpp", "verdict": "right: no batch"}]
        page = tool.markdown(entries, {"a/b:x.cpp": {"kind": "compared", "detail": "d|e"}, "c/d:z.cpp": {"kind": "refused", "detail": "HVD3021"}})
        self.assertIn("2 programs of 2 repositories:", page)
        self.assertIn("- 1 accepted and compared", page)
        self.assertIn("- 0 **broken**", page)
        self.assertIn("| c/d | z.cpp | HVD3021: right: no batch |", page)
        self.assertIn("Of the refusals 1 are right", page)
        self.assertIn("| a/b | x.cpp | d\\|e |", page)
        self.assertNotIn("y.cpp", page)


class EndToEnd(unittest.TestCase):
    def try_programs(self, folder, programs):
        entries = []
        for name, (text, more) in programs.items():
            Path(folder, name).write_text(text)
            entries.append({"repository": "o/n", "path": name, "file": str(Path(folder, name)), "framework": "core", **more})
        Path(folder, "list.json").write_text(json.dumps(entries))
        command = [sys.executable, str(SCRIPT), "--build", BUILD, "--results", folder + "/results.json", "--table", folder + "/table.md",
                   "--ranks", "1,2", folder + "/list.json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
        return done, json.loads(Path(folder, "results.json").read_text()), Path(folder, "table.md").read_text()

    def test_programs(self):
        run = {"run": [], "per_rank": [r"s/batch = 16/batch = {N*16}/", r"s/Options\(0\.05\)/Options({N*0.05})/"],
               "patch": [r"s/samples = 96/samples = 192/"]}
        programs = {"same.cpp": (TRAINER, run), "only.cpp": (TRAINER, {"not_run": "takes a day"}),
                    "broken.cpp": ("#include <no/such.h>\nint main() {}\n", {}),
                    "other.cpp": (TRAINER, {**run, "patch": [], "per_rank": [r"s/Options\(0\.05\)/Options(0.06)/"]})}
        with tempfile.TemporaryDirectory() as folder:
            done, results, page = self.try_programs(folder, programs)
            found = {key.split(":")[1]: (r["kind"], r["detail"]) for key, r in results.items()}
            self.assertEqual(found["same.cpp"][0], "compared", done.stdout)
            self.assertEqual(found["only.cpp"], ("compiled", "takes a day"))
            self.assertEqual(found["broken.cpp"][0], "does not build")
            self.assertEqual(found["other.cpp"][0], "broken", "an oracle of another training must be seen to differ")
            self.assertEqual(done.returncode, 1)
            self.assertIn("4 programs of 1 repositories:", page)

    def test_several_files(self):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "tree")
            for name, text in (("main.cpp", MAIN), ("lib/train.cpp", TRAIN), ("lib/train.hpp", HEADER)):
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_text(text)
            more = {"folder": str(place), "file": "main.cpp", "sources": ["lib/train.cpp"], "patch": {"lib/train.hpp": ["s/96/80/"],
                    "lib/train.cpp": ["s/samples = 96/samples = 80/"]}, "run": ["16", "0.05"], "per_rank_run": ["{N*16}", "{N*0.05}"]}
            once = {**more, "together": True, "patch": {}, "per_rank_run": ["{N*16}", "0.06"]}
            done, results, _ = self.try_programs(folder, {"main.cpp": (MAIN, more), "together.cpp": (MAIN, once)})
            self.assertEqual(results["o/n:main.cpp"]["kind"], "compared", done.stdout)
            self.assertIn("global and per-rank, ranks 1-2: largest difference", results["o/n:main.cpp"]["detail"])
            self.assertEqual(results["o/n:together.cpp"]["kind"], "broken", "an oracle with another rate must be seen to differ")
            self.assertIn("samples = 96", (place / "lib/train.cpp").read_text(), "the user's own files stay as they are")


class Report(unittest.TextTestResult):
    def addSuccess(self, test):
        print("ok %s" % test.id().split(".", 1)[1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        print("FAIL %s" % test.id().split(".", 1)[1])

    def addError(self, test, err):
        super().addError(test, err)
        print("FAIL %s" % test.id().split(".", 1)[1])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    BUILD = sys.argv.pop()
    outcome = unittest.TextTestRunner(stream=sys.stdout, verbosity=0, resultclass=Report).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    sys.exit(0 if outcome.wasSuccessful() else 1)
