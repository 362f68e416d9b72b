// SPDX-License-Identifier: Apache-2.0
//
// A Transformer language model: the next token of a text.
//
//   language_model --train ~/data/tinyshakespeare/input.txt --length 128 --epochs 5 --out runs/

#include "command_line.h"

#include <hvd/hvd.hpp>

#include <cmath>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using hvd::Tensor;
namespace nn = hvd::nn;
namespace data = hvd::data;

static CommandLine options_of(int argc, char** argv) {
  CommandLine args("language_model", {
      {"--train", "", "a text file; without: generated sentences"},
      {"--test", "", "another one; without: the last tenth of the training text"},
      {"--bytes", "0", "at most so many bytes of the training text; 0: all, or 60000 generated ones"},
      {"--vocabulary", "512", "tokens, 256 at least"},
      {"--vocab-file", "", "vocab.json of GPT-2, with --merges-file, in place of a tokenizer that is trained"},
      {"--merges-file", "", "merges.txt of GPT-2"},
      {"--length", "64", "tokens of a piece"},
      {"--dim", "64", "features"},
      {"--heads", "4", "of attention"},
      {"--layers", "2", "of the network"},
      {"--dropout", "0.1", "probability"},
      {"--batch", "16", "pieces of a step"},
      {"--epochs", "2", "passes over the training text"},
      {"--max-steps", "0", "end after so many steps; 0: no limit"},
      {"--lr", "0.002", "learning rate after warm-up"},
      {"--warmup", "20", "steps of warm-up"},
      {"--dtype", "float32", "float32 or float64"},
      {"--seed", "1", "of all random numbers"},
      {"--report", "50", "steps between two lines of progress"},
      {"--out", "", "prefix of log.csv, last.safetensors and best.safetensors"},
      {"--save-every", "0", "steps between two checkpoints; 0: one at the end of each epoch"},
      {"--resume", "", "checkpoint to continue from"},
  });
  args.parse(argc, argv);
  return args;
}

// Sentences of a small grammar.
static std::string generated_text(size_t bytes) {
  const std::vector<std::string> who = {"the king", "a fool", "my lord", "the queen", "a soldier"}, does = {"sees", "fears", "follows", "loves", "calls"};
  std::mt19937 engine(5);
  std::string text;
  while (text.size() < bytes) {
    text += who[engine() % who.size()] + " " + does[engine() % does.size()] + " " + who[engine() % who.size()];
    text += engine() % 3 == 0 ? ".\n" : ", and ";
  }
  return text;
}

struct LanguageModelImpl : nn::Module {
  LanguageModelImpl(int64_t vocabulary, int64_t length, int64_t dim, int64_t heads, int64_t layer_count, double dropout)
      : embed(register_module("embed", nn::Embedding(vocabulary, dim))),
        places(register_module("places", nn::LearnedPositions(length, dim))),
        drop(register_module("drop", nn::Dropout(dropout))),
        norm(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({dim})))),
        head(register_module("head", nn::Linear(nn::LinearOptions(dim, vocabulary).bias(false)))),
        mask(register_buffer("mask", nn::functional::causal_mask(length))) {
    for (int64_t i = 0; i < layer_count; ++i)
      layers.push_back(register_module("layer" + std::to_string(i),
                                       nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(dim, heads)
                                                                       .dim_feedforward(4 * dim)
                                                                       .dropout(dropout)
                                                                       .activation(hvd::kGELU)
                                                                       .norm_first(true))));
    nn::init::normal_(embed->weight, 0, 0.02);
  }

  // tokens [N, T] -> logits [N, T, vocabulary]
  Tensor forward(const Tensor& tokens) {
    Tensor x = drop(places(embed(tokens)));
    for (auto& layer : layers) x = layer->forward(x, mask);
    return head(norm(x));
  }

  nn::Embedding embed;
  nn::LearnedPositions places;
  nn::Dropout drop;
  nn::LayerNorm norm;
  nn::Linear head;
  Tensor mask;
  std::vector<nn::TransformerEncoderLayer> layers;
};
HVD_MODULE(LanguageModel);

static Tensor loss_of(LanguageModel& model, const data::Batch& batch) {
  const Tensor logits = model(batch.data);
  return nn::functional::cross_entropy(logits.view({-1, logits.size(2)}), batch.target.reshape({-1}));
}

// Mean negative log-likelihood of a token.
static double evaluate(LanguageModel& model, data::DataLoader& loader) {
  hvd::NoGradGuard no_grad;
  model->eval();
  double total = 0;
  int64_t pieces = 0;
  for (auto& batch : loader) {
    total += loss_of(model, batch).item<double>() * static_cast<double>(batch.data.size(0));
    pieces += batch.data.size(0);
  }
  return total / static_cast<double>(pieces);
}

// Where a run stands. `pass`: in the training set; empty between two epochs.
struct Place {
  int64_t epoch = 0, step = 0;
  double best;
  std::string pass;
};

static void save(const std::string& path, const LanguageModel& model, const hvd::optim::Optimizer& optimizer, const Place& place) {
  std::ostringstream best;
  best << std::setprecision(17) << place.best;
  hvd::save_checkpoint(path, model, optimizer, {place.epoch, place.step, {{"best", best.str()}, {"pass", place.pass}}});
}

static void run(const CommandLine& args) {
  if (args.one_of("--dtype", {"float32", "float64"}) == "float64") hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(args.count("--seed", 0));
  const size_t limit = args.count("--bytes", 0);
  std::string train_text = args.text("--train").empty() ? generated_text(limit > 0 ? limit : 60000) : data::read_text(args.text("--train"));
  if (limit > 0 && train_text.size() > limit) train_text.resize(limit);
  std::string test_text;
  if (args.text("--test").empty()) {
    const size_t cut = train_text.size() - train_text.size() / 10;
    test_text = train_text.substr(cut);
    train_text.resize(cut);
  } else {
    test_text = data::read_text(args.text("--test"));
  }
  const data::ByteTokenizer tokenizer = args.text("--vocab-file").empty()
                                            ? data::ByteTokenizer::train(train_text, args.count("--vocabulary", 256))
                                            : data::ByteTokenizer::load(args.text("--vocab-file"), args.text("--merges-file"));
  const int64_t length = args.count("--length", 1);
  data::datasets::TokenPieces train_set(tokenizer.encode(train_text), length);
  const std::vector<int64_t> test_tokens = tokenizer.encode(test_text);
  data::datasets::TokenPieces test_set(test_tokens, length);
  const double bytes_per_token = static_cast<double>(test_text.size()) / static_cast<double>(test_tokens.size());
  auto train_loader = data::make_data_loader<data::RandomSampler>(train_set, data::DataLoaderOptions().batch_size(args.count("--batch", 1)));
  auto test_loader = data::make_data_loader<data::SequentialSampler>(test_set, data::DataLoaderOptions().batch_size(32));
  std::cout << train_set.size() << " training pieces, " << test_set.size() << " test pieces, " << tokenizer.size() << " tokens" << std::endl;

  LanguageModel model(tokenizer.size(), length, args.count("--dim", 1), args.count("--heads", 1), args.count("--layers", 1), args.number("--dropout"));
  const int64_t epochs = args.count("--epochs", 1), max_steps = args.count("--max-steps", 0), report = args.count("--report", 1),
                save_every = args.count("--save-every", 0);
  hvd::optim::AdamW optimizer(model->parameters(), hvd::optim::AdamWOptions(args.number("--lr")).betas({0.9, 0.95}).weight_decay(0.1));
  hvd::optim::LinearWarmup schedule(optimizer, args.count("--warmup", 1));
  const std::string out = args.text("--out");
  int64_t epoch = 0, step = 0;
  double best = INFINITY;
  if (!args.text("--resume").empty()) {
    const hvd::CheckpointMeta meta = hvd::load_checkpoint(args.text("--resume"), model, optimizer);
    epoch = meta.epoch;
    step = meta.step;
    best = std::stod(meta.extra.at("best"));
    schedule.set_last_epoch(step);
    train_loader->load_state(meta.extra.at("pass"));
    std::cout << "resumed in epoch " << epoch + 1 << " after step " << step << std::endl;
  }
  std::ofstream log(out + "log.csv", step > 0 ? std::ios::app : std::ios::trunc);
  if (step == 0) log << "epoch,step,perplexity,bits_per_byte\n";

  hvd::Phases phases;
  const hvd::EnergyMeter energy;
  while (epoch < epochs && (max_steps == 0 || step < max_steps)) {
    model->train();
    phases.enter("train");
    for (auto& batch : *train_loader) {
      optimizer.zero_grad();
      const Tensor loss = loss_of(model, batch);
      loss.backward();
      nn::utils::clip_grad_norm_(model->parameters(), 1.0);
      optimizer.step();
      schedule.step();
      if (++step % report == 0)
        std::cout << "step " << step << ": loss " << std::fixed << std::setprecision(4) << loss.item<double>() << std::endl;
      if (max_steps > 0 && step >= max_steps) break;
      if (save_every > 0 && step % save_every == 0) save(out + "last.safetensors", model, optimizer, {epoch, step, best, train_loader->state()});
    }
    ++epoch;
    phases.enter("evaluate");
    const double loss = evaluate(model, *test_loader);
    phases.leave();
    const double bits = loss / std::log(2.0) / bytes_per_token;
    std::cout << "epoch " << epoch << ": perplexity " << std::fixed << std::setprecision(4) << std::exp(loss) << ", bits per byte " << bits << std::endl;
    log << epoch << "," << step << "," << std::exp(loss) << "," << bits << std::endl;
    if (loss < best) {
      best = loss;
      hvd::save(model, out + "best.safetensors");
    }
    save(out + "last.safetensors", model, optimizer, {epoch, step, best, ""});
  }
  std::cout << "time: " << phases.summary() << "; " << energy.summary() << std::endl;
}

int main(int argc, char** argv) {
  const CommandLine args = options_of(argc, argv);
  try {
    run(args);
  } catch (const std::exception& error) {
    std::cerr << "language_model: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
