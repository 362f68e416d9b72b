// SPDX-License-Identifier: Apache-2.0
#include "rewriters/dialects/reader.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace hvdize {
namespace {

using llvm::yaml::KeyValueNode;
using llvm::yaml::MappingNode;
using llvm::yaml::NullNode;
using llvm::yaml::SequenceNode;

struct RoleRow {
  Role role;
  const char* key;
  const char* keys;
};

constexpr RoleRow kRoles[] = {
#define HVD_ROLE(ENUMERATOR, KEY, KEYS) {Role::ENUMERATOR, KEY, KEYS},
#include "rewriters/dialects/roles.def"
#undef HVD_ROLE
};

struct OpRow {
  OpKind op;
  const char* key;
};

constexpr OpRow kOps[] = {
    {OpKind::Elementwise, "elementwise"}, {OpKind::Rowwise, "rowwise"},       {OpKind::ReduceSum, "reduce_sum"},
    {OpKind::ReduceMean, "reduce_mean"},  {OpKind::ReduceOther, "reduce_other"}, {OpKind::BatchedMatmul, "batched_matmul"}, {OpKind::Contraction, "contraction"},
    {OpKind::ReduceMax, "reduce_max"},  {OpKind::ReduceMin, "reduce_min"},
    {OpKind::Reshape, "reshape"},         {OpKind::Select, "select"},         {OpKind::Concat, "concat"},
    {OpKind::Matmul, "matmul"},           {OpKind::ToHost, "to_host"},        {OpKind::Size, "size"},
    {OpKind::ElementCount, "element_count"}, {OpKind::DataPointer, "data_pointer"}, {OpKind::Factory, "factory"},
    {OpKind::ShapeOnly, "shape_only"},    {OpKind::Print, "print"},           {OpKind::Assign, "assign"},
    {OpKind::Scale, "scale"},           {OpKind::Scatter, "scatter"},
};

bool allows(llvm::StringRef keys, llvm::StringRef key) {
  llvm::SmallVector<llvm::StringRef, 8> words;
  keys.split(words, ' ', -1, false);
  return key == "params" || std::find(words.begin(), words.end(), key) != words.end();
}

int* integerField(Entry& e, llvm::StringRef key) {
  return llvm::StringSwitch<int*>(key)
      .Case("params", &e.params)
      .Case("arg", &e.arg)
      .Case("params_arg", &e.arg)
      .Case("dim", &e.dim)
      .Case("shape", &e.shape)
      .Case("order", &e.order)
      .Case("like", &e.like)
      .Case("index", &e.index)
      .Case("reduction_arg", &e.reductionArg)
      .Case("path", &e.path)
      .Case("folder", &e.folder)
      .Case("model", &e.model)
      .Case("optimizer", &e.optimizer)
      .Case("template", &e.templateArg)
      .Case("dataset", &e.dataset)
      .Case("sampler", &e.sampler)
      .Case("options", &e.options)
      .Case("input", &e.input)
      .Case("target", &e.target)
      .Default(nullptr);
}

void keepFirstMessage(const llvm::SMDiagnostic& diagnostic, void* context) {
  auto* error = static_cast<std::string*>(context);
  if (!error->empty()) return;
  llvm::raw_string_ostream os(*error);
  diagnostic.print(nullptr, os, /*ShowColors=*/false);
}

}  // namespace

llvm::StringRef roleName(Role role) {
  for (const RoleRow& row : kRoles)
    if (row.role == role) return row.key;
  return "?";
}

llvm::StringRef opName(OpKind op) {
  for (const OpRow& row : kOps)
    if (row.op == op) return row.key;
  return "none";
}

DialectReader::DialectReader(llvm::StringRef yaml, llvm::StringRef fileName)
    : fileName_(fileName.str()), stream_(llvm::MemoryBufferRef(yaml, fileName_), sources_), dialect_(new Dialect) {
  sources_.setDiagHandler(keepFirstMessage, &error_);
}

bool DialectReader::fail(Node* at, const llvm::Twine& message) {
  stream_.printError(at, message);
  return false;
}

std::unique_ptr<Dialect> DialectReader::read(std::string* error) {
  bool ok = false;
  auto document = stream_.begin();
  Node* root = document == stream_.end() ? nullptr : document->getRoot();
  if (auto* mapping = llvm::dyn_cast_or_null<MappingNode>(root)) {
    ok = true;
    for (KeyValueNode& pair : *mapping) {
      auto key = scalar(pair.getKey());
      if (!key) ok = false;
      else if (*key == "roles") ok = roles(pair.getValue());
      else if (*key == "ops") ok = ops(pair.getValue());
      else ok = header(*key, pair.getKey(), pair.getValue());
      if (!ok) break;
    }
    ok = ok && !stream_.failed() && finish(root);
  } else if (root && !llvm::isa<NullNode>(root)) {
    fail(root, "a table must be a mapping with the keys dialect, title, namespace, reveals, runtime, roles, ops");
  }
  if (ok && error_.empty()) return std::move(dialect_);
  *error = error_.empty() ? fileName_ + ": the table is empty" : error_;
  return nullptr;
}

bool DialectReader::header(llvm::StringRef key, Node* at, Node* value) {
  if (key == "reveals") return names(value, dialect_->reveals_);
  if (key == "folders") return names(value, dialect_->folders_);
  if (key == "namespace") return names(value, dialect_->namespaces_);
  std::string* field = llvm::StringSwitch<std::string*>(key)
                           .Case("dialect", &dialect_->name_)
                           .Case("title", &dialect_->title_)
                           .Case("layout", &dialect_->layout_)
                           .Case("runtime", &dialect_->runtime_)
                           .Case("step_draws", &dialect_->stepDraws_)
                           .Case("reductions", &dialect_->reductions_)
                           .Default(nullptr);
  if (!field) return fail(at, "unknown key '" + key + "'; known: dialect, title, namespace, reveals, layout, folders, runtime, step_draws, reductions, roles, ops");
  auto text = scalar(value);
  if (text) *field = *text;
  if (text && key == "reductions" && *text != "parameters" && *text != "optimizers") return fail(value, "reductions: parameters or optimizers expected, not '" + *text + "'");
  if (text && key == "step_draws" && *text != "own" && *text != "keyed") return fail(value, "step_draws: own or keyed expected, not '" + *text + "'");
  return text.has_value();
}

bool DialectReader::finish(Node* root) {
  const std::pair<const char*, bool> missing[] = {{"dialect", dialect_->name_.empty()},
                                                  {"title", dialect_->title_.empty()},
                                                  {"namespace", dialect_->namespaces_.empty()},
                                                  {"runtime", dialect_->runtime_.empty()},
                                                  {"reveals", dialect_->reveals_.empty()}};
  for (const auto& [key, absent] : missing)
    if (absent) return fail(root, llvm::Twine("the key '") + key + "' is missing");
  return true;
}

bool DialectReader::roles(Node* node) {
  auto* mapping = llvm::dyn_cast<MappingNode>(node);
  if (!mapping) return fail(node, "roles: a mapping from roles to declarations expected");
  for (KeyValueNode& pair : *mapping) {
    auto key = scalar(pair.getKey());
    if (!key) return false;
    auto row = std::find_if(std::begin(kRoles), std::end(kRoles), [&](const RoleRow& r) { return *key == r.key; });
    if (row == std::end(kRoles) || row->role == Role::Op) return fail(pair.getKey(), "unknown role '" + *key + "'");
    Entry model;
    model.role = row->role;
    if (!entries(pair.getValue(), model, row->keys)) return false;
  }
  return true;
}

bool DialectReader::ops(Node* node) {
  auto* mapping = llvm::dyn_cast<MappingNode>(node);
  if (!mapping) return fail(node, "ops: a mapping from kinds of operations to declarations expected");
  for (KeyValueNode& pair : *mapping) {
    auto key = scalar(pair.getKey());
    if (!key) return false;
    auto row = std::find_if(std::begin(kOps), std::end(kOps), [&](const OpRow& r) { return *key == r.key; });
    if (row == std::end(kOps)) return fail(pair.getKey(), "unknown kind of operation '" + *key + "'");
    Entry model;
    model.role = Role::Op;
    model.op = row->op;
    if (!entries(pair.getValue(), model, "dim default shape order like index options dim_option")) return false;
  }
  return true;
}

bool DialectReader::entries(Node* node, const Entry& model, llvm::StringRef keys) {
  auto* mapping = llvm::dyn_cast<MappingNode>(node);
  if (!mapping) return fail(node, "a mapping from names to names or parameters expected");
  for (KeyValueNode& pair : *mapping) {
    Node* at = pair.getKey();
    std::vector<std::string> scopes;
    // A value can be walked only once: the rows are read for the first name and repeated for the others.
    if (auto whole = scalar(at); whole && llvm::StringRef(*whole).contains("operator ")) scopes = {*whole};
    else if (!names(at, scopes) || scopes.empty()) return false;
    const size_t before = dialect_->order_.size();
    if (!entriesOf(at, scopes.front(), pair.getValue(), model, keys)) return false;
    const size_t after = dialect_->order_.size();
    for (size_t k = 1; k < scopes.size(); ++k)
      for (size_t i = before; i < after; ++i) {
        Entry copy = *dialect_->order_[i];
        copy.name = scopes[k] + copy.name.substr(scopes.front().size());
        if (!add(at, std::move(copy))) return false;
      }
  }
  return true;
}

bool DialectReader::entriesOf(Node* at, const std::string& key, Node* value, const Entry& model, llvm::StringRef keys) {
  if (auto* alternatives = llvm::dyn_cast<SequenceNode>(value)) {
    for (Node& parameters : *alternatives)
      if (!entry(at, key, &parameters, model, keys)) return false;
    return true;
  }
  if (llvm::isa<MappingNode, NullNode>(value)) return entry(at, key, value, model, keys);
  std::vector<std::string> members;
  if (!names(value, members)) return false;
  for (const std::string& member : members)
    if (!entry(at, key + "::" + member, nullptr, model, keys)) return false;
  return true;
}

bool DialectReader::entry(Node* at, llvm::StringRef name, Node* parameters, Entry e, llvm::StringRef keys) {
  e.name = name.str();
  e.line = sources_.getLineAndColumn(at->getSourceRange().Start).first;
  if (auto* mapping = llvm::dyn_cast_or_null<MappingNode>(parameters)) {
    for (KeyValueNode& pair : *mapping) {
      auto key = scalar(pair.getKey());
      if (!key) return false;
      if (!allows(keys, *key)) return fail(pair.getKey(), "'" + roleName(e.role) + "' has no parameter '" + *key + "'");
      if (!parameter(e, pair.getKey(), *key, pair.getValue())) return false;
    }
  } else if (parameters && !llvm::isa<NullNode>(parameters)) {
    return fail(parameters, "parameters of '" + name + "' in braces expected");
  }
  return add(at, std::move(e));
}

bool DialectReader::parameter(Entry& e, Node* at, llvm::StringRef key, Node* value) {
  if (int* field = integerField(e, key)) return integer(value, *field);
  if (key == "targets") return numbers(value, e.targets);
  if (key == "counted_args") return numbers(value, e.countedArgs);
  if (key == "counted_options") return names(value, e.countedOptions);
  if (key == "fields") return names(value, e.fields);
  if (key == "state_options") return names(value, e.stateOptions);
  if (key == "default") {
    int number = 0;
    if (!integer(value, number)) return false;
    e.defaultDim = number;
    return true;
  }
  auto text = scalar(value);
  if (!text) return false;
  if (key == "rule") {
    e.rule = *text == "sgd" ? OptimizerRule::Sgd : *text == "closure" ? OptimizerRule::Closure : OptimizerRule::Adaptive;
    return *text == "sgd" || *text == "adaptive" || *text == "closure" ||
           fail(value, "rule: sgd, adaptive or closure expected, not '" + *text + "'");
  }
  if (key == "reduction") {
    e.reduction = *text == "mean" ? LossReduction::Mean : *text == "sum" ? LossReduction::Sum : LossReduction::None;
    return *text == "mean" || *text == "sum" || *text == "none" || fail(value, "reduction: mean, sum or none expected, not '" + *text + "'");
  }
  if (key == "reduction_option") return e.reductionOption = *text, true;
  if (key == "value") return e.value = *text, true;
  if (key == "dim_option") return e.dimOption = *text, true;
  if (key == "second_result") return e.secondResult = *text, *text == "states" || *text == "rows" || fail(value, "second_result: states or rows expected");
  if (key == "positions")
    return e.positions = *text, *text == "numbers" || *text == "vectors" || *text == "indices" || *text == "sequences" ||
                                      fail(value, "positions: numbers, vectors, indices or sequences expected");
  if (key == "carries_option") return e.carriesOption = *text, true;
  if (key == "batch_first") return e.batchFirst = *text, true;
  if (key == "object") return e.object = *text != "0", true;
  return fail(at, "unknown parameter '" + key + "'");
}

bool DialectReader::add(Node* at, Entry e) {
  auto& same = dialect_->names_[e.name];
  for (const Entry* other : same)
    if (other->params == e.params)
      return fail(at, "'" + e.name + "' has a row already, in line " + llvm::Twine(other->line) + " (role " + roleName(other->role) + ")");
  dialect_->storage_.push_back(std::move(e));
  const Entry* stored = &dialect_->storage_.back();
  same.push_back(stored);
  if (stored->name.find('*') != std::string::npos) dialect_->patterns_.push_back(stored);
  dialect_->order_.push_back(&dialect_->storage_.back());
  return true;
}

std::optional<std::string> DialectReader::scalar(Node* node) {
  llvm::SmallString<128> storage;
  if (auto* s = llvm::dyn_cast_or_null<llvm::yaml::ScalarNode>(node)) return s->getValue(storage).str();
  if (auto* s = llvm::dyn_cast_or_null<llvm::yaml::BlockScalarNode>(node)) return s->getValue().str();
  if (node) fail(node, "a word expected");
  return std::nullopt;
}

bool DialectReader::integer(Node* node, int& value) {
  auto text = scalar(node);
  if (!text) return false;
  return !llvm::StringRef(*text).getAsInteger(10, value) || fail(node, "a whole number expected, not '" + *text + "'");
}

bool DialectReader::names(Node* node, std::vector<std::string>& out) {
  if (auto* list = llvm::dyn_cast<SequenceNode>(node)) {
    for (Node& n : *list) {
      auto text = scalar(&n);
      if (!text) return false;
      out.push_back(*text);
    }
    return true;
  }
  auto text = scalar(node);
  if (!text) return false;
  llvm::StringRef rest = *text;
  while (!(rest = rest.ltrim()).empty()) {
    const llvm::StringRef word = rest.take_until([](char c) { return c == ' ' || c == '\n' || c == '\t'; });
    out.push_back(word.str());
    rest = rest.drop_front(word.size());
  }
  return true;
}

bool DialectReader::numbers(Node* node, std::vector<int>& out) {
  std::vector<std::string> words;
  if (!names(node, words)) return false;
  for (const std::string& word : words) {
    int value = 0;
    if (llvm::StringRef(word).getAsInteger(10, value)) return fail(node, "whole numbers expected, not '" + word + "'");
    out.push_back(value);
  }
  return true;
}

}  // namespace hvdize
