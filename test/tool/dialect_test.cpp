// SPDX-License-Identifier: Apache-2.0
#include "rewriters/dialects/dialect.h"

#include "tool_test.h"

namespace hvdize::test {
namespace dialect_test {
namespace {

const char* const kTable = R"(dialect: toy
title: toy framework
namespace: toy
reveals: [toy.h]
runtime: toy/distributed.h
roles:
  optimizer:
    toy::Sgd: {rule: sgd, options: 1}
  step:
    toy::Optimizer: step
  module:
    toy: Module
  holder:
    toy: Holder
  make_loader:
    toy::make:
      - {params: 1, template: 0}
      - {params: 2, sampler: 1}
  absolute_lr:
    toy::Options::Options: {arg: 0}
  lr_field:
    toy::Group: lr
  loss:
    toy::loss: {input: 0, reduction: sum, counted_options: [weight, ignore]}
ops:
  elementwise:
    toy::Tensor: operator+ exp
  reduce_sum:
    toy::Tensor::sum: {dim: 0, default: -1}
)";

const char* const kCode = R"(
namespace std { template <typename T> struct unique_ptr { T* operator->() const; }; }
namespace toy {
inline namespace v1 {
struct Options { Options(double); };
struct Optimizer { virtual void step(); void other(); };
struct Sgd : Optimizer { void step() override; };
struct Module { virtual ~Module(); };
template <typename T> struct Holder { T* operator->() const; };
struct Group { double lr; };
template <typename S> int make(int);
template <typename S> int make(int, S);
struct Tensor { Tensor operator+(Tensor) const; Tensor sum(int = 0) const; };
}
}
struct Mine : toy::Sgd { void step() override; };
struct NetImpl : toy::Module {};
struct Net : toy::Holder<NetImpl> {};
template <typename B> struct Deep : B {};
void f(std::unique_ptr<Mine>& mine, const Net& net, Deep<toy::Module>* deep, toy::Tensor t, toy::Group g, int n) {
  mine->step();
  mine->other();
  toy::make<int>(1);
  toy::make<int>(1, 2);
  t.sum();
  toy::Options o(0.1);
  t + t;
  (void)sizeof(*deep);
}
)";

class DialectLookup : public testing::Test {
 protected:
  void SetUp() override {
    std::string error;
    dialect = Dialect::parse(kTable, "toy.yaml", &error);
    ASSERT_NE(dialect, nullptr) << error;
  }
  const Entry* ofCall(const std::string& name, size_t index = 0) { return dialect->lookup(static_cast<const clang::Expr*>(parsed.calls(name)[index])); }
  clang::QualType parameter(unsigned i) { return parsed.function("f")->getParamDecl(i)->getType(); }

  Parsed parsed{kCode};
  std::unique_ptr<Dialect> dialect;
};

TEST_F(DialectLookup, Header) {
  EXPECT_EQ(dialect->name(), "toy");
  ASSERT_EQ(dialect->namespaces().size(), 1u);
  EXPECT_EQ(dialect->namespaces().front(), "toy");
  EXPECT_EQ(dialect->runtimeHeader(), "toy/distributed.h");
  ASSERT_EQ(dialect->reveals().size(), 1u);
  EXPECT_EQ(dialect->entries().size(), 12u);
}

TEST_F(DialectLookup, MethodsThroughOverridesAndInlineNamespaces) {
  const Entry* step = ofCall("step");
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->role, Role::Step);
  EXPECT_EQ(ofCall("other"), nullptr);
}

TEST_F(DialectLookup, OverloadsByNumberOfParameters) {
  ASSERT_NE(ofCall("make", 0), nullptr);
  EXPECT_EQ(ofCall("make", 0)->templateArg, 0);
  EXPECT_EQ(ofCall("make", 1)->sampler, 1);
}

TEST_F(DialectLookup, OperationsConstructorsFields) {
  const Entry* sum = ofCall("sum");
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(sum->op, OpKind::ReduceSum);
  EXPECT_EQ(sum->dim, 0);
  EXPECT_EQ(sum->defaultDim, -1);
  EXPECT_EQ(ofCall("operator+")->op, OpKind::Elementwise);
  const clang::CXXRecordDecl* group = dialect->recordOf(parameter(4));
  EXPECT_EQ(dialect->lookup(static_cast<const clang::ValueDecl*>(*group->field_begin()))->role, Role::LrField);
}

TEST_F(DialectLookup, ClassesThroughPointersHoldersAndBases) {
  EXPECT_TRUE(dialect->is(parameter(0), Role::Optimizer));
  EXPECT_EQ(dialect->lookup(parameter(0))->rule, OptimizerRule::Sgd);
  EXPECT_TRUE(dialect->is(parameter(1), Role::Module));
  EXPECT_EQ(dialect->recordOf(parameter(1))->getName(), "NetImpl");
  EXPECT_TRUE(dialect->is(parameter(2), Role::Module));
  EXPECT_FALSE(dialect->is(parameter(2), Role::Optimizer));
  EXPECT_EQ(dialect->lookup(parameter(5)), nullptr);
  EXPECT_TRUE(dialect->owns(dialect->recordOf(parameter(3))));
  EXPECT_FALSE(dialect->owns(dialect->recordOf(parameter(1))));
}

TEST(DialectTable, CoreIsBuiltIn) {
  std::string error;
  const auto core = Dialect::load("core", &error);
  ASSERT_NE(core, nullptr) << error;
  EXPECT_EQ(core->name(), "core");
  EXPECT_GT(core->entries().size(), 200u);
  EXPECT_EQ(Dialect::load("nonsense", &error), nullptr);
  EXPECT_EQ(error, "unknown dialect 'nonsense'; known: core torch");
}

std::string errorOf(std::string table) {
  std::string error;
  EXPECT_EQ(Dialect::parse(table, "t.yaml", &error), nullptr);
  return error;
}

std::string with(const std::string& rest) {
  return "dialect: t\ntitle: t\nnamespace: t\nreveals: [t.h]\nruntime: t.hpp\n" + rest;
}

TEST(DialectTable, ErrorsNameThePlace) {
  EXPECT_NE(errorOf(with("roles:\n  stepp:\n    a: b\n")).find("t.yaml:7:3: error: unknown role 'stepp'"), std::string::npos);
  EXPECT_NE(errorOf(with("nonsense: 1\n")).find("t.yaml:6:1: error: unknown key 'nonsense'"), std::string::npos);
  EXPECT_NE(errorOf(with("roles:\n  step:\n    a: {dim: 1}\n")).find("t.yaml:8:9: error: 'step' has no parameter 'dim'"), std::string::npos);
  EXPECT_NE(errorOf(with("roles:\n  seed:\n    a: {arg: x}\n")).find("a whole number expected, not 'x'"), std::string::npos);
  EXPECT_NE(errorOf(with("roles:\n  step:\n    a: b\n  module:\n    a: b\n")).find("'a::b' has a row already, in line 8 (role step)"), std::string::npos);
  EXPECT_NE(errorOf(with("ops:\n  nonsense:\n    a: b\n")).find("unknown kind of operation 'nonsense'"), std::string::npos);
  EXPECT_NE(errorOf("dialect: t\n").find("the key 'title' is missing"), std::string::npos);
  EXPECT_NE(errorOf("a: [\n").find("t.yaml:"), std::string::npos);
  EXPECT_EQ(errorOf(""), "t.yaml: the table is empty");
}

}  // namespace
}  // namespace dialect_test
}  // namespace hvdize::test
