// SPDX-License-Identifier: Apache-2.0
// e2e: shortcuts=bodies; edit=batch = 8 => batch = {8*N}; edit=rate = 0.05 => rate = {0.05*N}; ranks=1,2,3; timeout=240
// Recurrent layers, attention and transformers: their states have the samples in the second dimension, and so has what gets the time steps
// first. States by index, select, squeeze, reshape; both directions joined; states handed on from step to step; outputs collected step by
// step and stacked; losses over all steps.
// form: hidden state of a recurrent layer
// form: time steps in the first dimension
// form: outputs of a decoder, collected step by step
// form: sentences transposed to time steps first, through modules that are registered in another one and called by their holders
#include <torch/torch.h>

#include <iostream>
#include <tuple>
#include <vector>

const int64_t kSteps = 5, kInputs = 4, kWidth = 6, kClasses = 3;

using State = std::tuple<torch::Tensor, torch::Tensor>;

// A batch in the first dimension; the classes come from the states.
struct StatesImpl : torch::nn::Module {
  StatesImpl()
      : lstm(register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(kInputs, kWidth).num_layers(2).batch_first(true)))),
        gru(register_module("gru", torch::nn::GRU(torch::nn::GRUOptions(kInputs, kWidth).bidirectional(true).batch_first(true)))),
        one(register_module("one", torch::nn::GRU(torch::nn::GRUOptions(kInputs, kWidth).batch_first(true)))),
        head(register_module("head", torch::nn::Linear(2 * kWidth, kClasses))) {
    start = register_parameter("start", torch::full({1, 1, kWidth}, 0.1));
  }
  torch::Tensor forward(torch::Tensor x) {
    auto [steps, state] = lstm->forward(x);
    auto [hidden, cell] = state;
    auto first = torch::cat({hidden[-1], cell.select(0, 0)}, 1);
    torch::Tensor seen, both;
    std::tie(seen, both) = gru->forward(x);
    auto second = torch::cat({both.index({0}), both[-1]}, 1) + both.permute({1, 0, 2}).reshape({x.size(0), -1}) + both.transpose(0, 1).flatten(1);
    auto alone = one->forward(x);
    auto last = std::get<1>(alone);
    auto third = torch::cat({last.squeeze(0), last.view({-1, kWidth})}, 1);
    auto more = std::get<0>(one->forward(x, start.expand({1, x.size(0), kWidth}).contiguous()));
    auto given = std::get<1>(one->forward(x, torch::zeros({1, x.size(0), kWidth}, torch::kDouble)))[0];
    auto again = std::get<0>(one->forward(x, start.repeat({1, x.size(0), 1})));
    auto fourth = torch::cat({more.select(1, -1) + again.mean(1), given}, 1);
    auto weights = torch::softmax(torch::bmm(seen, both.transpose(0, 1).reshape({x.size(0), -1, 1})), 1);
    return head->forward(first + second + third + fourth + both.mean(0).mean(1, true) + hidden.sum({2}).mean(0).unsqueeze(1) + (seen * weights).sum(1));
  }
  torch::nn::LSTM lstm{nullptr};
  torch::nn::GRU gru{nullptr}, one{nullptr};
  torch::nn::Linear head{nullptr};
  torch::Tensor start;
};
TORCH_MODULE(States);

// Time first: what comes out of a layer, step by step.
struct StepsImpl : torch::nn::Module {
  StepsImpl()
      : lstm(register_module("lstm", torch::nn::LSTM(kInputs, kWidth))), decoder(register_module("decoder", torch::nn::GRU(kWidth, kWidth))),
        head(register_module("head", torch::nn::Linear(kWidth, kClasses))) {}
  torch::Tensor forward(torch::Tensor x) {
    x = x.transpose(0, 1);
    State state;
    torch::Tensor steps;
    std::tie(steps, state) = lstm->forward(x);
    torch::Tensor hidden = std::get<0>(state), input = steps[-1];
    std::vector<torch::Tensor> outputs;
    for (int64_t t = 0; t < kSteps; ++t) {
      torch::Tensor out;
      std::tie(out, hidden) = decoder->forward(input.unsqueeze(0), hidden);
      input = out.squeeze(0);
      outputs.push_back(head->forward(input));
    }
    return torch::stack(outputs, 0) + head->forward(torch::relu(steps));
  }
  torch::nn::LSTM lstm{nullptr};
  torch::nn::GRU decoder{nullptr};
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Steps);

// Attention and encoder layers of the framework take the time steps first.
struct EncoderImpl : torch::nn::Module {
  EncoderImpl()
      : input(register_module("input", torch::nn::Linear(kInputs, kWidth))),
        attention(register_module("attention", torch::nn::MultiheadAttention(torch::nn::MultiheadAttentionOptions(kWidth, 2)))),
        encoder(register_module("encoder", torch::nn::TransformerEncoder(
                                               torch::nn::TransformerEncoderOptions(torch::nn::TransformerEncoderLayerOptions(kWidth, 2).dim_feedforward(8).dropout(0.0), 1)))),
        head(register_module("head", torch::nn::Linear(kWidth, kClasses))) {}
  torch::Tensor forward(torch::Tensor x) {
    auto hides = x.select(2, 0) > 1.5;
    auto steps = input->forward(x.permute({1, 0, 2}));
    auto [mixed, weights] = attention->forward(steps, steps, steps);
    auto coded = encoder->forward(mixed + steps, {}, hides);
    return head->forward(coded.permute({1, 0, 2}).mean(1)) + head->forward(coded[0]) + weights.mean({1, 2}).unsqueeze(1);
  }
  torch::nn::Linear input{nullptr};
  torch::nn::MultiheadAttention attention{nullptr};
  torch::nn::TransformerEncoder encoder{nullptr};
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Encoder);

struct WordsImpl : torch::nn::Module {
  explicit WordsImpl(int64_t count) : table(count, 4) { register_module("table", table); }
  torch::Tensor forward(torch::Tensor tokens) { return table(tokens.to(torch::kLong)) * 2; }
  torch::nn::Embedding table;
};
TORCH_MODULE(Words);

// The steps come first in what its layers get; the mask of padding has a row for each sample. Two words to begin with do not count.
struct TranslatorImpl : torch::nn::Module {
  TranslatorImpl() : head(4, 8) {
    source = register_module("source", Words(8));
    wanted = register_module("wanted", Words(8));
    layers = register_module("layers", torch::nn::Transformer(torch::nn::TransformerOptions(4, 2).num_encoder_layers(1).num_decoder_layers(1).dim_feedforward(6).dropout(0)));
    register_module("head", head);
  }
  torch::Tensor forward(torch::Tensor from, torch::Tensor to, torch::Tensor later, torch::Tensor padding) {
    return head(layers(source(from), wanted(to), torch::Tensor(), later, torch::Tensor(), padding, torch::Tensor(), padding));
  }
  Words source{nullptr}, wanted{nullptr};
  torch::nn::Transformer layers{nullptr};
  torch::nn::Linear head;
};
TORCH_MODULE(Translator);

// Pairs that a function makes: in a step of the batch, elsewhere of whatever is asked for.
std::pair<torch::Tensor, torch::Tensor> make_pairs(int64_t count) {
  auto x = torch::rand({count, kSteps, kInputs}, torch::kDouble);
  return {x, x.mean({1, 2})};
}

int main() {
  torch::manual_seed(4);
  const int64_t rows = 37, batch = 8;
  const double rate = 0.05;
  auto inputs = torch::randn({rows, kSteps, kInputs}, torch::kDouble);
  auto classes = (inputs.sum({1, 2}) > 0).to(torch::kLong) + (inputs.select(1, 0).select(1, 0) > 0.5).to(torch::kLong);
  States states;
  Steps steps;
  Encoder encoder;
  states->to(torch::kDouble), steps->to(torch::kDouble), encoder->to(torch::kDouble);
  std::vector<torch::Tensor> all;
  for (const auto& p : states->parameters()) all.push_back(p);
  for (const auto& p : steps->parameters()) all.push_back(p);
  for (const auto& p : encoder->parameters()) all.push_back(p);
  torch::optim::SGD optimizer(all, rate);
  namespace F = torch::nn::functional;
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0, along = 0;
    int64_t correct = 0, tokens = 0;
    for (int64_t i = 0; i < rows; i += batch) {
      auto x = inputs.slice(0, i, std::min(i + batch, rows)), y = classes.slice(0, i, std::min(i + batch, rows));
      optimizer.zero_grad();
      auto of_states = states->forward(x);
      auto by_step = steps->forward(x);
      auto wanted = x.transpose(0, 1).slice(2, 0, kClasses);
      auto loss = F::cross_entropy(of_states, y) + torch::mse_loss(by_step, wanted) +
                  F::cross_entropy(by_step.reshape({-1, kClasses}), wanted.argmax(2).reshape({-1})) +
                  F::cross_entropy(by_step.permute({1, 2, 0}), wanted.transpose(0, 1).argmax(2)) + F::cross_entropy(encoder->forward(x), y);
      for (int64_t t = 0; t < by_step.size(0); ++t) loss = loss + 0.1 * F::cross_entropy(by_step[t], y);
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * x.size(0);
      along += by_step.pow(2).mean().item<double>() * by_step.size(1);
      tokens += by_step.numel();
      correct += of_states.argmax(1).eq(y).sum().item<int64_t>() + by_step.argmax(2).eq(wanted.argmax(2)).sum().item<int64_t>();
    }
    std::cout << "epoch " << epoch << " loss " << total / rows << " squares " << along / rows << " correct " << correct << " of " << tokens << std::endl;
  }
  torch::save(all, "recurrent.pt");
  Translator translator;
  translator->to(torch::kDouble);
  torch::optim::SGD third(translator->parameters(), rate);
  torch::nn::CrossEntropyLoss criterion(torch::nn::CrossEntropyLossOptions().ignore_index(1));
  auto sentences = torch::randint(1, 8, {rows, 7});
  double perplexity = 0;
  for (int64_t i = 0; i < rows; i += batch) {
    auto from = sentences.slice(0, i, std::min(i + batch, rows)).slice(1, 0, 4), to = sentences.slice(0, i, std::min(i + batch, rows)).slice(1, 3);
    from = from.transpose(0, 1);
    to = to.transpose(0, 1);
    auto given = to.index({torch::indexing::Slice(torch::indexing::None, -1)}), next = to.index({torch::indexing::Slice(1, torch::indexing::None)});
    auto later = torch::full({given.size(0), given.size(0)}, -1e9, torch::kDouble).triu(1);
    auto scores = translator(from, given, later, (from == 7).transpose(0, 1));
    third.zero_grad();
    auto loss = criterion(scores.reshape({-1, scores.size(scores.dim() - 1)}), next.reshape({-1}));
    loss.backward();
    third.step();
    perplexity += loss.item<double>();
  }
  std::cout << "translator " << perplexity << std::endl;
  torch::save(translator->parameters(), "translator.pt");
  Steps probe;
  probe->to(torch::kDouble);
  torch::optim::SGD other(probe->parameters(), rate);
  for (int k = 0; k < 4; ++k) {
    auto made = make_pairs(batch);
    other.zero_grad();
    auto loss = torch::mse_loss(probe->forward(made.first).mean(0).mean(1), made.second);
    loss.backward();
    other.step();
  }
  auto shown = make_pairs(2);
  for (int64_t i = 0; i < 2; ++i) std::cout << "sample " << shown.first[i].sum().item<double>() << ' ' << shown.second[i].item<double>() << std::endl;
}
