// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// Fields of a batch that a collation fills in many ways: tensors of a list of numbers, filled row by row, stacked by a function, copied out of memory,
// the number of the samples, padded words, and the weights of the classes, which belong to no sample.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

struct Note {
  torch::Tensor pitch, length;
  int64_t voice;
  std::vector<int64_t> words;
};

struct Notes : torch::data::datasets::Dataset<Notes, Note> {
  explicit Notes(const torch::Tensor& rows) : rows_(rows) {}
  Note get(size_t i) override {
    const auto at = static_cast<int64_t>(i);
    return {rows_[at], rows_[at].sum(0, true).tanh(), at % 3, std::vector<int64_t>(1 + i * 5 % 4, 1 + at % 7)};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(rows_.size(0)); }

 private:
  torch::Tensor rows_;
};

struct Score {
  torch::Tensor pitch, length, voice, again, marks, words, word_counts, weights;
  std::vector<torch::Tensor> twice;
  int64_t count = 0;
};

static torch::Tensor laid(const std::vector<torch::Tensor>& list) { return torch::stack(list).to(torch::kDouble); }

struct Arrange : torch::data::transforms::Collation<Score, std::vector<Note>> {
  Score apply_batch(std::vector<Note> notes) override {
    const auto n = static_cast<int64_t>(notes.size());
    int64_t longest = 0;
    for (const Note& note : notes) longest = std::max(longest, static_cast<int64_t>(note.words.size()));
    std::vector<torch::Tensor> pitch, length;
    std::vector<int64_t> voice, again;
    Score score;
    for (auto& note : notes) {
      pitch.push_back(note.pitch);
      length.emplace_back(note.length.unsqueeze(0));
      voice.push_back(note.voice);
      score.twice.push_back(2 * note.pitch);
    }
    std::transform(notes.begin(), notes.end(), std::back_inserter(again), [](const Note& note) { return note.voice * 2; });
    score.pitch = laid(pitch);
    score.length = torch::cat(length);
    score.voice = torch::tensor(voice);
    score.again = torch::from_blob(again.data(), {static_cast<int64_t>(again.size())}, torch::kLong).clone();
    score.marks = torch::zeros({n, 3}, torch::kDouble);
    score.words = torch::zeros({n, longest}, torch::kLong);
    score.word_counts = torch::empty({n}, torch::kLong);
    for (int64_t r = 0; r < n; ++r) {
      score.marks[r][notes[r].voice] = 1;
      score.word_counts[r] = static_cast<int64_t>(notes[r].words.size());
      for (size_t c = 0; c < notes[r].words.size(); ++c) score.words[r][static_cast<int64_t>(c)] = notes[r].words[c];
    }
    score.weights = weights_;
    score.count = n;
    return score;
  }

 private:
  torch::Tensor weights_ = torch::arange(1, 4, torch::kDouble);
};

// One class with a constructor for samples and for batches, whose parts are moved.
struct Move {
  torch::Tensor board, odds, worth;
  Move(torch::Tensor b, torch::Tensor o, torch::Tensor w) : board(std::move(b)), odds(o), worth(w) {}
};

struct Moves : torch::data::datasets::Dataset<Moves, Move> {
  explicit Moves(const torch::Tensor& rows) : rows_(rows) {}
  Move get(size_t i) override {
    const auto at = static_cast<int64_t>(i);
    return Move(rows_[at].view({2, 3}), rows_[at].slice(0, 0, 2).softmax(0), torch::tensor(0.1 * static_cast<double>(at % 5)));
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(rows_.size(0)); }

 private:
  torch::Tensor rows_;
};

struct Laid : torch::data::transforms::Collation<Move> {
  Move apply_batch(std::vector<Move> moves) override {
    std::vector<torch::Tensor> board, odds, worth;
    board.reserve(moves.size());
    for (auto& move : moves) {
      board.push_back(std::move(move.board));
      odds.push_back(std::move(move.odds));
      worth.push_back(std::move(move.worth));
    }
    auto boards = torch::stack(board).permute({0, 2, 1}).contiguous();
    boards = boards.reshape({-1, 6});
    return {std::move(boards), torch::stack(odds), torch::stack(worth)};
  }
};

// A batch that the data set itself makes, of rows that it takes by their numbers.
struct Pair {
  torch::Tensor x, y, kind;
};

struct Pairs : torch::data::datasets::BatchDataset<Pairs, Pair> {
  explicit Pairs(const torch::Tensor& rows) : rows_(rows), kinds_(torch::arange(rows.size(0)).remainder(3)) {}
  Pair get_batch(torch::ArrayRef<size_t> numbers) override {
    const std::vector<int64_t> copied(numbers.begin(), numbers.end());
    const torch::Tensor at = torch::tensor(copied);
    return {rows_.index_select(0, at), rows_.index_select(0, at).sum(1, true), kinds_.index({at})};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(rows_.size(0)); }

 private:
  torch::Tensor rows_, kinds_;
};

template <typename B>
static torch::Tensor loss_of(torch::nn::Linear& net, const B& batch) {
  return ((net(batch.pitch) - batch.length).square().squeeze(1) * (batch.voice + 1)).mean();
}

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(5);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const torch::Tensor rows = torch::sin(torch::arange(45 * 6, torch::kDouble) * 0.9).view({45, 6});
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Notes(rows).map(Arrange()), static_cast<size_t>(size));
  auto pairs = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Pairs(rows), static_cast<size_t>(size));
  auto moves = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Moves(rows).map(Laid()), static_cast<size_t>(size));
  torch::nn::Linear net(6, 1);
  torch::nn::Embedding words(8, 1);
  std::vector<torch::Tensor> parameters = net->parameters();
  parameters.push_back(words->weight);
  torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(rate));
  for (int epoch = 0; epoch < 2; ++epoch) {
    double first = 0, low = 0, high = 0, marked = 0, spoken = 0, seen = 0, by_class = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
// form: fields of a batch that a collation fills in many ways, read by a function
      const torch::Tensor loss = loss_of(net, batch);
      loss.backward();
      optimizer.step();
      first += batch.voice.eq(1).sum().item<double>();
      high += batch.again.to(torch::kDouble).sum().item<double>();
      marked += batch.marks.sum().item<double>();
    }
    for (auto& batch : *loader) {
      auto& [pitch, length, voice, again, marks, padded, counts, weights, twice, count] = batch;
      optimizer.zero_grad();
      const torch::Tensor each = (net(torch::stack(twice)) - length).square().squeeze(1) * weights.index_select(0, voice);
      const torch::Tensor mask = (torch::arange(padded.size(1)).unsqueeze(0) < counts.unsqueeze(1)).to(torch::kDouble);
// form: the number of samples that a collation counts, as a divisor; padded words
      const torch::Tensor loss = each.sum() / count + (words(padded).squeeze(2).square() * mask).sum() / count;
      loss.backward();
      optimizer.step();
      low += voice.eq(0).sum().item<double>();
      by_class += weights.sum().item<double>();
      spoken += counts.sum().item<int64_t>();
      seen += count;
    }
    for (auto& given : *pairs) {
      const Pair pair = given;
      optimizer.zero_grad();
      const torch::Tensor loss = torch::mse_loss(net(pair.x), pair.y);
      loss.backward();
      optimizer.step();
      first += pair.kind.eq(2).sum().item<double>();
    }
    for (auto& move : *moves) {
      optimizer.zero_grad();
      const torch::Tensor loss = ((net(move.board).squeeze(1) - move.worth).square() * move.odds.select(1, 0)).mean();
      loss.backward();
      optimizer.step();
      low += move.worth.gt(0.15).sum().item<double>();
    }
    std::printf("%.9f %.9f %.9f %.9f %.9f %.9f\n", first, low, high, marked, spoken, seen);
    if (by_class < 0) std::printf("never\n");
  }
  torch::save(net, "net.pt");
  torch::save(words, "words.pt");
}
