// SPDX-License-Identifier: Apache-2.0
#include "data_support.hpp"

#include <hvd/hvd.hpp>

namespace checkpoint_training_test {
namespace {

using namespace data_test;
namespace nn = hvd::nn;

struct SmallImpl : nn::Module {
  explicit SmallImpl(int64_t hidden = 4) : conv(nn::Conv2dOptions(1, 2, 3).bias(false)), norm(2), fc(2 * 4 * 4, hidden) {
    register_module("conv", conv);
    register_module("norm", norm);
    register_module("fc", fc);
  }
  hvd::Tensor forward(const hvd::Tensor& x) { return fc(hvd::dropout(norm(conv(x)).flatten(1), 0.3, is_training())); }
  nn::Conv2d conv;
  nn::BatchNorm2d norm;
  nn::Linear fc;
};
HVD_MODULE(Small);

void train(Small& model, hvd::optim::Optimizer& optimizer, int steps) {
  model->train();
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    model->forward(hvd::randn({6, 1, 6, 6})).square().mean().backward();
    optimizer.step();
  }
}

std::vector<hvd::Tensor> values(const Small& model) {
  std::vector<hvd::Tensor> all;
  for (const auto& entry : model->named_parameters()) all.push_back(entry.tensor.detach().clone());
  for (const auto& entry : model->named_buffers()) all.push_back(entry.tensor.clone());
  return all;
}

void expect_equal(const std::vector<hvd::Tensor>& a, const std::vector<hvd::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(hvd::equal(a[i], b[i])) << "tensor " << i;
}

template <class Optimizer, class Options>
void expect_resumable(const Options& options) {
  const ScratchDir dir;
  hvd::manual_seed(1);
  Small model;
  Optimizer optimizer(model->parameters(), options);
  train(model, optimizer, 3);
  optimizer.set_lr(optimizer.lr() / 2);
  hvd::save_checkpoint(dir / "c", model, optimizer, {2, 17, {{"best", "0.5"}}});
  train(model, optimizer, 3);

  hvd::manual_seed(99);
  Small other;
  Optimizer continued(other->parameters(), options);
  const hvd::CheckpointMeta meta = hvd::load_checkpoint(dir / "c", other, continued);
  EXPECT_EQ(meta.epoch, 2);
  EXPECT_EQ(meta.step, 17);
  EXPECT_EQ(meta.extra.at("best"), "0.5");
  EXPECT_EQ(hvd::default_generator().seed(), 1u);
  train(other, continued, 3);
  expect_equal(values(model), values(other));
  EXPECT_EQ(continued.lr(), optimizer.lr());
}

TEST(CheckpointTraining, ResumedSgdEqualsUninterrupted) { expect_resumable<hvd::optim::SGD>(hvd::optim::SGDOptions(0.1).momentum(0.9)); }
TEST(CheckpointTraining, ResumedAdamEqualsUninterrupted) { expect_resumable<hvd::optim::Adam>(hvd::optim::AdamOptions(0.01)); }

TEST(CheckpointTraining, ModelsAreSavedByDottedName) {
  const ScratchDir dir;
  Small model, other;
  hvd::save(model, dir / "m");
  const auto tensors = hvd::load_tensors(dir / "m");
  for (const char* name : {"conv.weight", "norm.weight", "norm.running_mean", "fc.weight", "fc.bias"}) EXPECT_TRUE(tensors.contains(name)) << name;
  EXPECT_FALSE(hvd::equal(model->fc->weight, other->fc->weight));
  const hvd::Tensor handle = other->fc->weight;
  hvd::load(other, dir / "m");
  expect_equal(values(model), values(other));
  EXPECT_TRUE(handle.is_same(other->fc->weight)) << "loading fills the parameters that are there";
  EXPECT_TRUE(other->fc->weight.requires_grad());
}

TEST(CheckpointTraining, ModelPartOfAFullCheckpointLoads) {
  const ScratchDir dir;
  Small model, other;
  hvd::optim::Adam optimizer(model->parameters());
  train(model, optimizer, 1);
  hvd::save_checkpoint(dir / "c", model, optimizer);
  hvd::load(other, dir / "c");
  expect_equal(values(model), values(other));
}

// Loading `path` into a small model fails with these words, and changes nothing.
void expect_refused(const std::string& path, const std::vector<std::string>& parts) {
  hvd::manual_seed(5);
  Small model;
  hvd::optim::Adam optimizer(model->parameters());
  train(model, optimizer, 1);
  const auto before = values(model);
  const auto state = optimizer.state();
  std::vector<hvd::Tensor> state_before, state_after;
  for (const auto& entry : state) state_before.push_back(entry.tensor.clone());
  expect_error([&] { hvd::load_checkpoint(path, model, optimizer); }, parts);
  for (const auto& entry : optimizer.state()) state_after.push_back(entry.tensor);
  expect_equal(values(model), before);
  expect_equal(state_after, state_before);
  EXPECT_EQ(hvd::default_generator().seed(), 5u);
}

TEST(CheckpointTraining, OtherModelsAreRefused) {
  const ScratchDir dir;
  Small wide(7);
  hvd::optim::Adam optimizer(wide->parameters());
  train(wide, optimizer, 1);
  hvd::save_checkpoint(dir / "wide", wide, optimizer);
  expect_refused(dir / "wide", {dir / "wide", "another model", "'fc.weight' [7, 32]", "[4, 32]"});

  Small model;
  hvd::optim::Adam same(model->parameters());
  hvd::save_checkpoint(dir / "same", model, same);
  auto tensors = hvd::load_tensors(dir / "same");
  const auto metadata = hvd::load_metadata(dir / "same");
  tensors.emplace("extra.weight", hvd::zeros({2}));
  hvd::save_tensors(dir / "more", tensors, metadata);
  expect_refused(dir / "more", {"another model", "this model has no tensor 'extra.weight' [2]"});
  tensors.erase("extra.weight");
  tensors.erase("norm.bias");
  hvd::save_tensors(dir / "less", tensors, metadata);
  expect_refused(dir / "less", {"another model", "it has no tensor 'norm.bias' [2]"});
  tensors.emplace("norm.bias", hvd::zeros({2}, hvd::kFloat64));
  hvd::save_tensors(dir / "wider", tensors, metadata);
  expect_refused(dir / "wider", {"another model", "'norm.bias' [2] float64", "float32"});
}

TEST(CheckpointTraining, OtherOptimizersAreRefused) {
  const ScratchDir dir;
  Small model;
  hvd::optim::SGD sgd(model->parameters(), hvd::optim::SGDOptions(0.1).momentum(0.9));
  train(model, sgd, 1);
  hvd::save_checkpoint(dir / "sgd", model, sgd);
  expect_refused(dir / "sgd", {dir / "sgd", "another optimizer"});
}

TEST(CheckpointTraining, IncompleteFilesAreRefused) {
  const ScratchDir dir;
  Small model;
  hvd::save(model, dir / "model");
  expect_refused(dir / "model", {dir / "model", "no optimizer"});
  hvd::optim::Adam optimizer(model->parameters());
  train(model, optimizer, 1);
  hvd::save_checkpoint(dir / "c", model, optimizer);
  const std::string whole = read_bytes(dir / "c");
  write_bytes(dir / "cut", whole.substr(0, whole.size() - 5));
  expect_refused(dir / "cut", {dir / "cut", "truncated"});
  auto metadata = hvd::load_metadata(dir / "c");
  metadata["epoch"] = "three";
  hvd::save_tensors(dir / "epoch", hvd::load_tensors(dir / "c"), metadata);
  expect_refused(dir / "epoch", {"no number 'epoch'"});
}

}  // namespace
}  // namespace checkpoint_training_test
