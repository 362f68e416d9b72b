// SPDX-License-Identifier: Apache-2.0
//
// Every operation of the public headers has its tests: docs/operations.md names them, and this looks whether they are there.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace core_coverage_test {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream in(std::string(HVD_TEST_SOURCE_DIR) + "/../" + path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  std::set<std::string> out;
  const std::regex regex(pattern);
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match) out.insert((*match)[1]);
  return out;
}

void add(std::set<std::string>& names, const std::set<std::string>& more) { names.insert(more.begin(), more.end()); }

/// What gives tensors, or changes one: members of Tensor and functions.
std::set<std::string> operations() {
  const std::string type = "(?:Tensor&?|std::vector<Tensor>|std::pair<Tensor, Tensor>) ", name = "(operator[^\\s(]+|[a-z]\\w*)\\(";
  std::string tensor = file_text("runtime/include/hvd/tensor.hpp");
  const size_t first = tensor.find("// -- conversion"), last = tensor.find("// -- autograd");
  EXPECT_TRUE(first < last && last != std::string::npos);
  tensor = tensor.substr(first, last - first);
  std::set<std::string> out = matches(tensor, "\n  " + type + name);
  EXPECT_TRUE(out.count("view") && out.count("max") && out.count("split") && out.count("operator+="));
  for (const char* header : {"core/ops.hpp", "core/factories.hpp", "nn/functional.hpp"})
    add(out, matches(file_text(std::string("runtime/include/hvd/") + header), "\n(?:inline )?" + type + name));
  EXPECT_TRUE(out.count("conv2d") && out.count("stack") && out.count("operator<="));
  return out;
}

std::set<std::string> layers() {
  std::set<std::string> out;
  for (const char* header : {"layers", "sequence", "losses", "batchnorm", "sequential", "network"})
    add(out, matches(file_text(std::string("runtime/include/hvd/nn/") + header + ".hpp"), "\nHVD_MODULE\\((\\w+)\\)"));
  EXPECT_TRUE(out.count("Linear") && out.count("Sequential"));
  return out;
}

std::set<std::string> optimizers() {
  std::set<std::string> out;
  for (const char* header : {"sgd", "adam", "rmsprop", "large_batch"})
    add(out, matches(file_text(std::string("runtime/include/hvd/optim/") + header + ".hpp"), "\nclass (\\w+) : public Optimizer "));
  EXPECT_TRUE(out.count("SGD") && out.count("LAMB"));
  return out;
}

/// A row of a table of the page: names between backquotes of each column.
struct Row {
  std::vector<std::string> names, gradient, devices, property;
  bool no_gradient = false;
};

std::vector<std::string> names_in(const std::string& cell) {
  std::vector<std::string> out;
  const std::regex regex("`([^`]+)`");
  for (std::sregex_iterator match(cell.begin(), cell.end(), regex), end; match != end; ++match) out.push_back((*match)[1]);
  return out;
}

std::vector<Row> rows_under(const std::string& heading) {
  const std::string page = file_text("docs/operations.md");
  const size_t start = page.find("\n## " + heading + "\n");
  EXPECT_NE(start, std::string::npos) << heading;
  std::istringstream lines(page.substr(start + 1));
  std::vector<Row> out;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.rfind("## ", 0) != 0) {
    if (line.rfind("| `", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream parts(line.substr(1));
    for (std::string cell; std::getline(parts, cell, '|');) cells.push_back(cell);
    if (cells.size() != 4) {
      ADD_FAILURE() << "not four columns: " << line;
      continue;
    }
    Row row{names_in(cells[0]), names_in(cells[1]), names_in(cells[2]), names_in(cells[3])};
    row.no_gradient = cells[1].rfind(" none: ", 0) == 0;
    if (cells[2] == " the same ") row.devices = row.gradient;
    out.push_back(std::move(row));
  }
  EXPECT_FALSE(out.empty()) << heading;
  return out;
}

/// Names of all tests of this program: "Suite.Test", and "All/Suite.Test/entry_0" for those of tables.
std::set<std::string> tests() {
  std::set<std::string> out;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) out.insert(std::string(suite.name()) + "." + suite.GetTestInfo(j)->name());
  }
  return out;
}

/// The source of a test, or of an entry of a table; empty if there is none.
class Sources {
 public:
  Sources() {
    for (const char* file : {"core_random_elements", "core_random_shapes"}) entries(tables_["shapes"], file, "std::vector<Operation> ");
    entries(tables_["identities"], "core_identities", "std::vector<Identity> ");
    entries(tables_["exact"], "core_identities", "std::vector<Exact> ");
    for (const char* file : {"autograd", "batchnorm", "layers", "networks", "operations", "optimizers", "properties", "random"}) {
      const std::string text = file_text(std::string("test/unit/core_") + file + ".cpp");
      for (size_t at = text.find("\nTEST"); at != std::string::npos;) {
        const size_t next = text.find("\nTEST", at + 1);
        const std::string part = text.substr(at, next - at);
        std::smatch match;
        if (std::regex_search(part, match, std::regex("^\\s*TEST\\w*\\((\\w+), (\\w+)\\)"))) single_[match[1].str() + "." + match[2].str()] = part;
        at = next;
      }
    }
  }
  std::string entry(const std::string& table, const std::string& name) const { return found(tables_.at(table), name); }
  std::string single(const std::string& name) const { return found(single_, name); }

 private:
  using Texts = std::map<std::string, std::string>;
  static std::string found(const Texts& texts, const std::string& name) {
    const auto at = texts.find(name);
    return at == texts.end() ? "" : at->second;
  }
  static void entries(Texts& out, const char* file, const std::string& function) {
    const std::string text = file_text(std::string("test/unit/") + file + ".cpp");
    for (size_t at = text.find("\n" + function); at != std::string::npos; at = text.find("\n" + function, at + 1)) {
      const std::string body = text.substr(at, text.find("\n}\n", at) - at);
      for (size_t start = body.find("\n      {\""); start != std::string::npos;) {
        const size_t next = body.find("\n      {\"", start + 1), name = start + 9;
        out[body.substr(name, body.find('"', name) - name)] = body.substr(body.find('"', name), next - body.find('"', name));
        start = next;
      }
    }
  }
  std::map<std::string, Texts> tables_;
  Texts single_;
};

bool mentions(const std::string& source, const std::string& name) {
  if (name == "operator[]") return source.find("][") != std::string::npos;
  if (name.rfind("operator", 0) == 0) return source.find(name.substr(8) + " ") != std::string::npos || source.find(name.substr(8) + "x[") != std::string::npos;
  return std::regex_search(source, std::regex("\\b" + name + "\\("));
}

class CoreCoverage : public testing::Test {
 protected:
  /// The source of what a cell names, or a failure.
  std::string source_of(const std::string& column, const std::string& name) {
    if (name.find('.') != std::string::npos && name.rfind("CoreIdentities.", 0) != 0) {
      EXPECT_TRUE(tests_.count(name)) << "there is no test " << name;
      return sources_.single(name);
    }
    const std::string entry = name.rfind("CoreIdentities.", 0) == 0 ? name.substr(15) : name;
    std::vector<std::pair<std::string, std::string>> places;  // test, table
    if (column == "property" || entry != name) places = {{"CoreIdentities.HoldOnEveryDevice", "identities"}};
    if (column == "gradient") places = {{"CoreRandomElements.GradientsMatchFiniteDifferences", "shapes"}, {"CoreRandomShapes.GradientsMatchFiniteDifferences", "shapes"}};
    if (column == "devices" && entry == name)
      places = {{"CoreRandomElements.DevicesMatchTheFloat64Reference", "shapes"}, {"CoreRandomShapes.DevicesMatchTheFloat64Reference", "shapes"}, {"CoreExact.TheSameOnEveryDevice", "exact"}};
    std::string source;
    for (const auto& [test, table] : places)
      if (tests_.count("All/" + test + "/" + entry + "_0")) source += sources_.entry(table, entry);
    EXPECT_FALSE(source.empty()) << "there is no entry " << name << " for the column " << column;
    return source;
  }

  void check(const std::set<std::string>& wanted, const std::string& heading, bool by_name) {
    std::set<std::string> there;
    for (const Row& row : rows_under(heading)) {
      const std::string what = row.names.front();
      EXPECT_FALSE(row.gradient.empty() && !row.no_gradient) << what << " has no gradient check";
      EXPECT_FALSE(row.devices.empty()) << what << " is not compared on every device";
      EXPECT_FALSE(row.property.empty()) << what << " has no property test";
      std::map<std::string, std::string> sources;
      for (const auto& [column, names] : {std::pair("gradient", row.gradient), std::pair("devices", row.devices), std::pair("property", row.property)})
        for (const std::string& name : names) sources[column] += source_of(column, name);
      for (const std::string& name : row.names) {
        EXPECT_TRUE(there.insert(name).second) << name << " has two rows";
        EXPECT_TRUE(wanted.count(name)) << name << " is in no header";
        if (!by_name) continue;
        for (const auto& [column, source] : sources) EXPECT_TRUE(mentions(source, name)) << "no test of the column " << column << " mentions " << name;
      }
    }
    for (const std::string& name : wanted) EXPECT_TRUE(there.count(name)) << name << " has no row in docs/operations.md";
  }

  const std::set<std::string> tests_ = tests();
  const Sources sources_;
};

TEST_F(CoreCoverage, EveryOperationHasItsTests) { check(operations(), "Operations", true); }
TEST_F(CoreCoverage, EveryLayerHasItsTests) { check(layers(), "Layers", false); }
TEST_F(CoreCoverage, EveryOptimizerHasItsTests) { check(optimizers(), "Optimizers", false); }

}  // namespace
}  // namespace core_coverage_test
