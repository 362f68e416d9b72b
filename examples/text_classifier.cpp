// SPDX-License-Identifier: Apache-2.0
//
// Tells classes of texts apart: each word and each pair of neighbouring words has a vote, which training starts from naive Bayes (Wang and
// Manning 2012); with --layers, a small Transformer is heard beside them.
//
//   text_classifier --train ~/data/imdb/train.tsv.gz --test ~/data/imdb/test.tsv.gz --epochs 5 --out runs/

#include "command_line.h"

#include <hvd/hvd.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

using hvd::Tensor;
namespace nn = hvd::nn;
namespace data = hvd::data;

static CommandLine options_of(int argc, char** argv) {
  CommandLine args("text_classifier", {
      {"--train", "", "lines 'label TAB text' or 'text TAB label', or a folder with a sub-folder for each class; without: generated reviews"},
      {"--test", "", "likewise"},
      {"--samples", "0", "at most so many texts for training; 0: all, or 2000 generated ones"},
      {"--test-samples", "0", "likewise for testing"},
      {"--vocabulary", "50000", "words: those that most training texts have, two at least"},
      {"--pairs", "150000", "pairs of neighbouring words, likewise"},
      {"--terms", "1024", "different words and pairs of a text that vote; what has more loses its middle"},
      {"--layers", "0", "of the Transformer encoder; 0: no encoder, and the options of it say nothing"},
      {"--length", "128", "words of a text that the encoder reads; what is longer loses its middle"},
      {"--keep", "0.6", "share of these words that a training step sees, drawn anew each time; above 0"},
      {"--most", "128", "but not more words than this"},
      {"--dim", "64", "features"},
      {"--heads", "4", "of attention"},
      {"--hidden", "2", "features between the two linear layers of a block, for each of its features"},
      {"--dropout", "0.1", "probability"},
      {"--batch", "32", "texts of a step"},
      {"--epochs", "3", "passes over the training texts"},
      {"--max-steps", "0", "end after so many steps; 0: no limit"},
      {"--lr", "0.005", "highest learning rate of one cycle"},
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

// Reviews in two kinds of words; a third of the words says nothing, and one in eight is of the other kind.
static std::vector<data::LabelledText> generated_reviews(long n, unsigned seed) {
  const std::vector<std::string> kinds[3] = {{"dull", "awful", "boring", "weak", "bad", "tired", "flat"},
                                             {"bright", "lovely", "moving", "strong", "good", "fresh", "sharp"},
                                             {"the", "film", "and", "story", "with", "actors", "was"}};
  std::mt19937 engine(seed);
  std::vector<data::LabelledText> texts;
  for (long i = 0; i < n; ++i) {
    const int64_t label = engine() % 2;
    std::string text;
    for (unsigned words = 6 + engine() % 20; words-- > 0;) {
      const auto& kind = kinds[engine() % 3 == 0 ? 2 : engine() % 8 == 0 ? 1 - label : label];
      text += (text.empty() ? "" : " ") + kind[engine() % kind.size()];
    }
    texts.push_back({text, label});
  }
  return texts;
}

static std::vector<data::LabelledText> open_texts(const std::string& path, long limit, unsigned seed) {
  if (path.empty()) return generated_reviews(limit > 0 ? limit : 2000, seed);
  std::vector<data::LabelledText> texts = data::read_labelled_texts(path);
  // Classes one after the other would leave the first samples with one class.
  std::mt19937 engine(seed);
  for (size_t i = texts.size(); i > 1; --i) std::swap(texts[i - 1], texts[engine() % i]);
  if (limit > 0 && texts.size() > static_cast<size_t>(limit)) texts.resize(limit);
  return texts;
}

// Lower-case words, and marks one by one: capitals and parts of words take more text to learn from than these trainers have.
static std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool part = byte > 127 || std::isalnum(byte) || c == '\'';
    if (part ? !inside : !std::isspace(byte)) words.emplace_back();
    if (part || !std::isspace(byte)) words.back() += static_cast<char>(byte > 127 ? byte : std::tolower(byte));
    inside = part;
  }
  return words;
}

// Words, then pairs of neighbouring words, which are told by the space between them.
static std::vector<std::string> terms_of(const std::vector<std::string>& words) {
  std::vector<std::string> terms = words;
  for (size_t i = 1; i < words.size(); ++i) terms.push_back(words[i - 1] + ' ' + words[i]);
  return terms;
}

// Numbers in a row of this length: 0 fills a short one, a long one keeps its ends, what a text is about and what it comes to.
static std::vector<int64_t> fitted(std::vector<int64_t> numbers, size_t length) {
  if (numbers.size() > length) numbers.erase(numbers.begin() + static_cast<long>(length - length / 2), numbers.end() - static_cast<long>(length / 2));
  numbers.resize(length, 0);
  return numbers;
}

// Numbers of words and pairs: 0 is none, 1 a word that is not known; words come before pairs.
class Vocabulary {
 public:
  Vocabulary(const std::vector<data::LabelledText>& texts, size_t words, size_t pairs) {
    std::unordered_map<std::string, int64_t> counts;
    for (const auto& text : texts) {
      const std::vector<std::string> terms = terms_of(words_of(text.text));
      for (const std::string& term : std::set<std::string>(terms.begin(), terms.end())) ++counts[term];
    }
    number(counts, false, words);
    words_ = size();
    number(counts, true, pairs);
  }

  std::vector<int64_t> words(const std::string& text, size_t length) const {
    std::vector<int64_t> out;
    for (const std::string& word : words_of(text)) out.push_back(std::max<int64_t>(number_of(word), 1));
    if (out.empty()) out.push_back(1);
    return fitted(out, length);
  }

  // Each known one once.
  std::vector<int64_t> terms(const std::string& text, size_t length) const {
    std::vector<int64_t> out;
    std::set<int64_t> seen;
    for (const std::string& term : terms_of(words_of(text)))
      if (const int64_t number = number_of(term); number > 0 && seen.insert(number).second) out.push_back(number);
    return fitted(out, length);
  }

  // Numbers up to the last word, and up to the last pair.
  int64_t word_count() const { return words_; }
  int64_t size() const { return static_cast<int64_t>(numbers_.size()) + 2; }

 private:
  void number(const std::unordered_map<std::string, int64_t>& counts, bool pairs, size_t most) {
    std::vector<std::pair<int64_t, std::string>> order;
    for (const auto& [term, count] : counts)
      if (count > 1 && (term.find(' ') != std::string::npos) == pairs) order.emplace_back(-count, term);
    std::sort(order.begin(), order.end());
    if (order.size() > most) order.resize(most);
    for (const auto& entry : order) numbers_.emplace(entry.second, numbers_.size() + 2);
  }

  int64_t number_of(const std::string& term) const {
    const auto known = numbers_.find(term);
    return known == numbers_.end() ? 0 : known->second;
  }

  std::unordered_map<std::string, int64_t> numbers_;
  int64_t words_ = 0;
};

// Texts in numbers: each row has so many words in their order, then so many different terms.
struct Rows {
  Rows(const std::vector<data::LabelledText>& texts, const Vocabulary& vocabulary, int64_t length, int64_t most_terms) : words(length), terms(most_terms) {
    for (const auto& text : texts) {
      for (const auto& part : {vocabulary.words(text.text, static_cast<size_t>(words)), vocabulary.terms(text.text, static_cast<size_t>(terms))})
        numbers.insert(numbers.end(), part.begin(), part.end());
      labels.push_back(text.label);
    }
  }

  data::datasets::TensorDataset data_set() const { return {hvd::tensor(numbers).view({-1, words + terms}), hvd::tensor(labels)}; }

  int64_t words, terms;
  std::vector<int64_t> numbers, labels;
};

// [terms, classes]: the logarithm of how often a class has a term, one added to each count, against the mean over the classes. What naive Bayes
// adds up for a text; a term that says nothing has zeros.
static Tensor naive_bayes(const Rows& rows, int64_t terms, int64_t classes) {
  Tensor counts = hvd::ones({terms, classes}, hvd::TensorOptions(hvd::kFloat64).device(hvd::kCPU));
  auto* count = counts.data_ptr<double>();
  const int64_t width = rows.words + rows.terms;
  for (size_t text = 0; text < rows.labels.size(); ++text) {
    const int64_t* row = rows.numbers.data() + static_cast<int64_t>(text) * width + rows.words;
    for (int64_t i = 0; i < rows.terms && row[i] != 0; ++i) ++count[row[i] * classes + rows.labels[text]];
  }
  const Tensor shares = (counts / counts.sum(0)).log();
  Tensor votes = shares - shares.mean(1, true);
  votes.narrow(0, 0, 2).zero_();
  return votes;
}

// Some of a text's words, in their order: a network that never sees a text twice cannot learn it by heart, and fewer words cost less.
struct SomeWords {
  double share;
  int64_t length, most;

  data::Example operator()(const data::Example& text) const {
    if (length == 0) return text;
    const Tensor row = text.data.cpu(), draws = hvd::rand({length}, hvd::TensorOptions(hvd::kFloat64).device(hvd::kCPU));
    const auto* word = row.data_ptr<int64_t>();
    const auto* draw = draws.data_ptr<double>();
    int64_t count = 0;
    while (count < length && word[count] != 0) ++count;
    const auto kept = std::min(most, static_cast<int64_t>(std::ceil(share * static_cast<double>(count))));
    std::vector<double> least(draw, draw + count);
    std::nth_element(least.begin(), least.begin() + (kept - 1), least.end());
    std::vector<int64_t> out;
    for (int64_t i = 0; i < count; ++i)
      if (draw[i] <= least[static_cast<size_t>(kept - 1)]) out.push_back(word[i]);
    out.resize(static_cast<size_t>(most), 0);
    out.insert(out.end(), word + length, word + row.size(0));
    return {hvd::tensor(out), text.target};
  }
};

struct Sizes {
  int64_t vocabulary, length, dim, heads, layers, hidden, classes;
};

struct EncoderImpl : nn::Module {
  EncoderImpl(const Sizes& sizes, double dropout)
      : embed(register_module("embed", nn::Embedding(nn::EmbeddingOptions(sizes.vocabulary, sizes.dim).padding_idx(0)))),
        places(register_module("places", nn::LearnedPositions(sizes.length, sizes.dim))),
        drop(register_module("drop", nn::Dropout(dropout))),
        norm(register_module("norm", nn::LayerNorm(std::vector<int64_t>{sizes.dim}))),
        head(register_module("head", nn::Linear(sizes.dim, sizes.classes))) {
    for (int64_t i = 0; i < sizes.layers; ++i)
      layers.push_back(register_module("layer" + std::to_string(i),
                                       nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(sizes.dim, sizes.heads)
                                                                       .dim_feedforward(sizes.hidden * sizes.dim)
                                                                       .dropout(dropout)
                                                                       .activation(hvd::kGELU)
                                                                       .norm_first(true))));
    // A word that is seldom seen stays near its first vector, which is noise in the mean over a text: a small one.
    nn::init::normal_(embed->weight, 0, 0.1);
  }

  // words [N, T], 0 where there is none -> [N, classes]
  Tensor forward(const Tensor& words) {
    const Tensor padding = words.eq(0);
    Tensor x = drop(places(embed(words)));
    for (auto& layer : layers) x = layer->forward(x, Tensor(), padding);
    const Tensor present = words.ne(0).to(x.dtype()).unsqueeze(2);
    // The mean over many small vectors is tiny: without the norm the head would have to grow first.
    return head(norm((x * present).sum(1) / present.sum(1)));
  }

  nn::Embedding embed;
  nn::LearnedPositions places;
  nn::Dropout drop;
  nn::LayerNorm norm;
  std::vector<nn::TransformerEncoderLayer> layers;
  nn::Linear head;
};
HVD_MODULE(Encoder);

struct ClassifierImpl : nn::Module {
  // first_votes [terms, classes]
  ClassifierImpl(const Tensor& first_votes, int64_t most_terms, const Sizes& sizes, double dropout)
      : terms(most_terms),
        votes(register_module("votes", nn::Embedding(nn::EmbeddingOptions(first_votes.size(0), sizes.classes).padding_idx(0)))),
        scale(register_parameter("scale", hvd::ones({1}))),
        bias(register_parameter("bias", hvd::zeros({sizes.classes}))) {
    hvd::NoGradGuard no_grad;
    votes->weight.copy_(first_votes);
    if (sizes.layers > 0) encoder = register_module("encoder", Encoder(sizes, dropout));
  }

  // rows [N, words + terms] -> [N, classes]
  Tensor forward(const Tensor& rows) {
    const int64_t words = rows.size(1) - terms;
    const Tensor voters = rows.narrow(1, words, terms);
    // Votes are not independent, as naive Bayes takes them to be: a long text would be judged far too surely by their sum.
    const Tensor weight = scale / (voters.ne(0).to(scale.dtype()).sum(1, true) + 1).sqrt();
    const Tensor logits = votes(voters).sum(1) * weight + bias;
    return encoder ? logits + encoder(rows.narrow(1, 0, words)) : logits;
  }

  int64_t terms;
  nn::Embedding votes;
  Tensor scale, bias;
  Encoder encoder{nullptr};
};
HVD_MODULE(Classifier);

struct Score {
  double loss = 0, accuracy = 0;
};

static Score evaluate(Classifier& model, data::DataLoader& loader) {
  hvd::NoGradGuard no_grad;
  model->eval();
  double loss = 0;
  int64_t correct = 0, samples = 0;
  for (auto& batch : loader) {
    const Tensor logits = model(batch.data);
    loss += nn::functional::cross_entropy(logits, batch.target).item<double>() * static_cast<double>(batch.target.size(0));
    correct += logits.argmax(1).eq(batch.target).sum().item<int64_t>();
    samples += batch.target.size(0);
  }
  return {loss / static_cast<double>(samples), static_cast<double>(correct) / static_cast<double>(samples)};
}

// Where a run stands. `pass`: in the training set; empty between two epochs.
struct Place {
  int64_t epoch = 0, step = 0;
  double best;
  std::string pass;
};

static void save(const std::string& path, const Classifier& model, const hvd::optim::Optimizer& optimizer, const Place& place) {
  std::ostringstream best;
  best << std::setprecision(17) << place.best;
  hvd::save_checkpoint(path, model, optimizer, {place.epoch, place.step, {{"best", best.str()}, {"pass", place.pass}}});
}

static void run(const CommandLine& args) {
  if (args.one_of("--dtype", {"float32", "float64"}) == "float64") hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(args.count("--seed", 0));
  const auto train_texts = open_texts(args.text("--train"), args.count("--samples", 0), 1);
  const auto test_texts = open_texts(args.text("--test"), args.count("--test-samples", 0), 2);
  int64_t classes = 2;
  for (const auto& text : train_texts) classes = std::max(classes, text.label + 1);
  const Vocabulary vocabulary(train_texts, static_cast<size_t>(args.count("--vocabulary", 1)), static_cast<size_t>(args.count("--pairs", 0)));
  const int64_t terms = args.count("--terms", 1), layers = args.count("--layers", 0), length = layers > 0 ? args.count("--length", 1) : 0;
  const int64_t most = std::min(length, static_cast<int64_t>(args.count("--most", 1)));
  const double keep = args.number("--keep");
  if (!(keep > 0) || keep > 1) throw std::runtime_error("option --keep: a share above 0, at most 1");
  const Rows train_rows(train_texts, vocabulary, length, terms), test_rows(test_texts, vocabulary, length, terms);
  const auto train_set = train_rows.data_set(), test_set = test_rows.data_set();
  auto train_loader = data::make_data_loader<data::RandomSampler>(train_set.map(SomeWords{keep, length, most}),
                                                                  data::DataLoaderOptions().batch_size(args.count("--batch", 1)));
  auto test_loader = data::make_data_loader<data::SequentialSampler>(test_set, data::DataLoaderOptions().batch_size(128));
  std::cout << train_set.size() << " training texts, " << test_set.size() << " test texts, " << vocabulary.size() << " words and pairs" << std::endl;

  const Sizes sizes{vocabulary.word_count(), length, args.count("--dim", 1), args.count("--heads", 1), layers, args.count("--hidden", 1), classes};
  Classifier model(naive_bayes(train_rows, vocabulary.size(), classes), terms, sizes, args.number("--dropout"));
  const int64_t epochs = args.count("--epochs", 1), max_steps = args.count("--max-steps", 0), report = args.count("--report", 1),
                save_every = args.count("--save-every", 0);
  hvd::optim::AdamW optimizer(model->parameters(), hvd::optim::AdamWOptions(args.number("--lr")).weight_decay(0.01));
  hvd::optim::OneCycleLR schedule(optimizer, args.number("--lr"), epochs * static_cast<int64_t>(train_loader->size()));
  const std::string out = args.text("--out");
  int64_t epoch = 0, step = 0;
  double best = -1;
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
  if (step == 0) log << "epoch,step,test_loss,test_accuracy\n";

  hvd::Phases phases;
  const hvd::EnergyMeter energy;
  while (epoch < epochs && (max_steps == 0 || step < max_steps)) {
    model->train();
    phases.enter("train");
    for (auto& batch : *train_loader) {
      optimizer.zero_grad();
      const Tensor loss = nn::functional::cross_entropy(model(batch.data), batch.target);
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
    const Score score = evaluate(model, *test_loader);
    phases.leave();
    std::cout << "epoch " << epoch << ": test loss " << std::fixed << std::setprecision(4) << score.loss << ", test accuracy " << score.accuracy
              << std::endl;
    log << epoch << "," << step << "," << score.loss << "," << score.accuracy << std::endl;
    if (score.accuracy > best) {
      best = score.accuracy;
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
    std::cerr << "text_classifier: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
