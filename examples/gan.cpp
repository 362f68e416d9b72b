// SPDX-License-Identifier: Apache-2.0
//
// A generative adversarial network (Goodfellow et al. 2014; convolutions as in DCGAN) on MNIST, Fashion-MNIST or generated digits.
//
//   gan --data ~/data/fashion-mnist --epochs 10 --out runs/

#include "command_line.h"

#include <hvd/hvd.hpp>

#include <cstdint>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

using hvd::Tensor;
namespace nn = hvd::nn;
namespace data = hvd::data;
namespace F = hvd::nn::functional;

static CommandLine options_of(int argc, char** argv) {
  CommandLine args("gan", {
      {"--data", "", "folder with MNIST's files; without: generated digits"},
      {"--samples", "0", "at most so many images; 0: all, or 4096 generated ones"},
      {"--noise", "32", "numbers that an image is made from"},
      {"--width", "16", "channels of the widest image but one"},
      {"--batch", "64", "images of a step"},
      {"--epochs", "3", "passes over the images"},
      {"--max-steps", "0", "end after so many steps; 0: no limit"},
      {"--lr", "0.0002", "learning rate of both"},
      {"--dtype", "float32", "float32 or float64"},
      {"--seed", "1", "of all random numbers"},
      {"--report", "20", "steps between two lines of progress"},
      {"--out", "", "prefix of log.csv, generator.safetensors, discriminator-0.safetensors and discriminator-1.safetensors"},
      {"--save-every", "0", "steps between two checkpoints; 0: one at the end of each epoch"},
      {"--resume", "", "prefix of the files to continue from"},
  });
  args.parse(argc, argv);
  return args;
}

// [N, noise] -> [N, 1, 28, 28] in (-1, 1)
struct GeneratorImpl : nn::Module {
  GeneratorImpl(int64_t noise, int64_t width)
      : start(register_module("start", nn::Linear(noise, 2 * width * 7 * 7))),
        up1(register_module("up1", nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2 * width, width, 4).stride(2).padding(1)))),
        up2(register_module("up2", nn::ConvTranspose2d(nn::ConvTranspose2dOptions(width, 1, 4).stride(2).padding(1)))),
        width(width) {}
  Tensor forward(const Tensor& noise) {
    const Tensor small = start(noise).relu().view({-1, 2 * width, 7, 7});
    return up2(up1(small).relu()).tanh();
  }
  nn::Linear start;
  nn::ConvTranspose2d up1, up2;
  int64_t width;
};
HVD_MODULE(Generator);

// [N, 1, 28, 28] -> [N], the logit of being real
struct DiscriminatorImpl : nn::Module {
  explicit DiscriminatorImpl(int64_t width)
      : down1(register_module("down1", nn::Conv2d(nn::Conv2dOptions(1, width, 4).stride(2).padding(1)))),
        down2(register_module("down2", nn::Conv2d(nn::Conv2dOptions(width, 2 * width, 4).stride(2).padding(1)))),
        judge(register_module("judge", nn::Linear(2 * width * 7 * 7, 1))) {}
  Tensor forward(const Tensor& images) {
    const Tensor features = F::leaky_relu(down2(F::leaky_relu(down1(images), 0.2)), 0.2);
    return judge(features.flatten(1)).squeeze(1);
  }
  nn::Conv2d down1, down2;
  nn::Linear judge;
};
HVD_MODULE(Discriminator);

// Where a run stands. `pass`: in the training set; empty between two epochs. `slot`: which of two files holds the discriminator.
struct Place {
  int64_t epoch = 0, step = 0, slot = 0;
  std::string pass;
};

static std::string discriminator_file(const std::string& prefix, int64_t slot) { return prefix + "discriminator-" + std::to_string(slot) + ".safetensors"; }

// The generator's file comes last and says which discriminator belongs to it. The next discriminator goes into the other slot: whenever the program
// is killed, both files of one step are there.
static void save(const std::string& out, const Generator& generator, const hvd::optim::Optimizer& g_optimizer, const Discriminator& discriminator,
                 const hvd::optim::Optimizer& d_optimizer, const Place& place) {
  hvd::save_checkpoint(discriminator_file(out, place.slot), discriminator, d_optimizer, {place.epoch, place.step, {}});
  hvd::save_checkpoint(out + "generator.safetensors", generator, g_optimizer,
                       {place.epoch, place.step, {{"slot", std::to_string(place.slot)}, {"pass", place.pass}}});
}

static void run(const CommandLine& args) {
  if (args.one_of("--dtype", {"float32", "float64"}) == "float64") hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(args.count("--seed", 0));
  const long limit = args.count("--samples", 0);
  auto images = data::open_digits_or(args.text("--data"), data::datasets::kTrain, limit > 0 ? limit : 4096);
  auto set = data::take(images, limit > 0 ? limit : images->size()).map(data::Normalize(0.5, 0.5));
  auto loader = data::make_data_loader<data::RandomSampler>(set, data::DataLoaderOptions().batch_size(args.count("--batch", 1)));

  const int64_t noise_size = args.count("--noise", 1), width = args.count("--width", 1);
  Generator generator(noise_size, width);
  Discriminator discriminator(width);
  hvd::optim::Adam g_optimizer(generator->parameters(), hvd::optim::AdamOptions(args.number("--lr")).betas({0.5, 0.999}));
  hvd::optim::Adam d_optimizer(discriminator->parameters(), hvd::optim::AdamOptions(args.number("--lr")).betas({0.5, 0.999}));

  const int64_t epochs = args.count("--epochs", 1), max_steps = args.count("--max-steps", 0), report = args.count("--report", 1),
                save_every = args.count("--save-every", 0);
  const std::string out = args.text("--out");
  int64_t epoch = 0, step = 0, slot = 0;
  if (!args.text("--resume").empty()) {
    const std::string from = args.text("--resume");
    const hvd::CheckpointMeta meta = hvd::load_checkpoint(from + "generator.safetensors", generator, g_optimizer);
    epoch = meta.epoch;
    step = meta.step;
    slot = std::stoll(meta.extra.at("slot"));
    hvd::load_checkpoint(discriminator_file(from, slot), discriminator, d_optimizer);
    loader->load_state(meta.extra.at("pass"));
    slot = 1 - slot;
    std::cout << "resumed in epoch " << epoch + 1 << " after step " << step << std::endl;
  }
  std::ofstream log(out + "log.csv", step > 0 ? std::ios::app : std::ios::trunc);
  if (step == 0) log << "step,discriminator,generator\n";

  hvd::Phases phases;
  const hvd::EnergyMeter energy;
  phases.enter("train");
  while (epoch < epochs && (max_steps == 0 || step < max_steps)) {
    for (auto& batch : *loader) {
      const int64_t n = batch.data.size(0);
      discriminator->zero_grad();
      const Tensor fake = generator(hvd::randn({n, noise_size}));
      const Tensor real_logits = discriminator(batch.data), fake_logits = discriminator(fake.detach());
      const Tensor d_loss = F::binary_cross_entropy_with_logits(real_logits, hvd::full({n}, 0.9)) +
                            F::binary_cross_entropy_with_logits(fake_logits, hvd::zeros({n}));
      d_loss.backward();
      d_optimizer.step();

      generator->zero_grad();
      const Tensor g_loss = F::binary_cross_entropy_with_logits(discriminator(fake), hvd::ones({n}));
      g_loss.backward();
      g_optimizer.step();

      if (++step % report == 0) {
        std::cout << "step " << step << ": discriminator " << std::fixed << std::setprecision(4) << d_loss.item<double>() << ", generator "
                  << g_loss.item<double>() << std::endl;
        log << step << "," << d_loss.item<double>() << "," << g_loss.item<double>() << std::endl;
      }
      if (max_steps > 0 && step >= max_steps) break;
      if (save_every > 0 && step % save_every == 0) {
        save(out, generator, g_optimizer, discriminator, d_optimizer, {epoch, step, slot, loader->state()});
        slot = 1 - slot;
      }
    }
    ++epoch;
    save(out, generator, g_optimizer, discriminator, d_optimizer, {epoch, step, slot, ""});
    slot = 1 - slot;
  }
  phases.leave();
  std::cout << "time: " << phases.summary() << "; " << energy.summary() << std::endl;
}

int main(int argc, char** argv) {
  const CommandLine args = options_of(argc, argv);
  try {
    run(args);
  } catch (const std::exception& error) {
    std::cerr << "gan: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
