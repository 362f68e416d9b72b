// SPDX-License-Identifier: Apache-2.0
// e2e: args=-e 4 -n 211 -t 64; scaled=-b {8*N} -l {0.02*N}
// Digit classifier in the manner of C: globals, printf, out-parameters, own shuffle, getopt.
//
// usage: c_style [-b batch] [-e epochs] [-l rate] [-n samples] [-t test samples] [-s seed] [-q]

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <random>
#include <vector>

#include <hvd/hvd.hpp>

#define IMAGE_SIDE 28
#define CLASSES 10
#define HIDDEN 40

static int g_batch = 8;
static int g_epochs = 3;
static double g_rate = 0.02;
static int g_samples = 200;
static int g_test_samples = 60;
static unsigned g_seed = 3;
static int g_quiet = 0;
static long g_updates = 0;

static hvd::Tensor g_train_images, g_train_labels;
static hvd::Tensor g_test_images, g_test_labels;
static std::mt19937 g_rng;

struct network {
  hvd::nn::Linear input{IMAGE_SIDE * IMAGE_SIDE, HIDDEN};
  hvd::nn::Linear output{HIDDEN, CLASSES};
};

static hvd::Tensor network_forward(struct network *net, const hvd::Tensor &images) {
  hvd::Tensor h = net->input->forward(images.view({-1, IMAGE_SIDE * IMAGE_SIDE}));
  return net->output->forward(h.relu());
}

static void usage(const char *name) {
  fprintf(stderr, "usage: %s [-b batch] [-e epochs] [-l rate] [-n samples] [-t test samples] [-s seed] [-q]\n", name);
  exit(2);
}

static void parse_arguments(int argc, char **argv) {
  int c;
  while ((c = getopt(argc, argv, "b:e:l:n:t:s:q")) != -1) {
    switch (c) {
      case 'b': g_batch = atoi(optarg); break;
      case 'e': g_epochs = atoi(optarg); break;
      case 'l': g_rate = atof(optarg); break;
      case 'n': g_samples = atoi(optarg); break;
      case 't': g_test_samples = atoi(optarg); break;
      case 's': g_seed = (unsigned)atoi(optarg); break;
      case 'q': g_quiet = 1; break;
      default: usage(argv[0]);
    }
  }
  if (g_batch < 1 || g_epochs < 1 || g_rate <= 0) {
    fprintf(stderr, "%s: batch, epochs and rate must be positive\n", argv[0]);
    exit(2);
  }
}

static void load_data(void) {
  hvd::data::datasets::Digits train(g_samples, g_seed), test(g_test_samples, g_seed + 1);
  g_train_images = (train.images() - 0.13) / 0.31;
  g_train_labels = train.targets();
  g_test_images = (test.images() - 0.13) / 0.31;
  g_test_labels = test.targets();
}

static void shuffle(std::vector<int64_t> &order) {
  for (size_t i = order.size() - 1; i > 0; i--) {
    size_t j = g_rng() % (i + 1);
    int64_t t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
}

/* Copies `count` samples, from `first` of the order on, into x and y. */
static void get_batch(const std::vector<int64_t> &order, int64_t first, int64_t count, hvd::Tensor *x, hvd::Tensor *y) {
  std::vector<int64_t> ids(order.begin() + first, order.begin() + first + count);
  hvd::Tensor index = hvd::tensor(ids);
  *x = g_train_images.index_select(0, index);
  *y = g_train_labels.index_select(0, index);
}

static int train_step(struct network *net, hvd::optim::SGD *opt, const hvd::Tensor &x, const hvd::Tensor &y, double *loss_out, int *hits_out) {
  opt->zero_grad();
  hvd::Tensor logits = network_forward(net, x);
  hvd::Tensor loss = hvd::nn::functional::cross_entropy(logits, y);
  loss.backward();
  opt->step();
  g_updates++;
  *loss_out = loss.item<double>();
  *hits_out = (int)logits.argmax(1).eq(y).sum().item<int64_t>();
  return *loss_out == *loss_out ? 0 : -1;
}

static double test(struct network *net, int *hits) {
  hvd::NoGradGuard no_grad;
  hvd::Tensor logits = network_forward(net, g_test_images);
  *hits = (int)logits.argmax(1).eq(g_test_labels).sum().item<int64_t>();
  return hvd::nn::functional::cross_entropy(logits, g_test_labels).item<double>();
}

static void write_histogram(struct network *net, const char *path) {
  FILE *f = fopen(path, "w");
  if (!f) {
    perror(path);
    exit(1);
  }
  hvd::NoGradGuard no_grad;
  hvd::Tensor guess = network_forward(net, g_test_images).argmax(1);
  int count[CLASSES];
  memset(count, 0, sizeof count);
  for (int64_t i = 0; i < guess.numel(); i++) count[guess[i].item<int64_t>()]++;
  for (int c = 0; c < CLASSES; c++) fprintf(f, "%d %d\n", c, count[c]);
  fclose(f);
}

int main(int argc, char **argv) {
  parse_arguments(argc, argv);
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(g_seed);
  g_rng.seed(g_seed);
  load_data();

  struct network net;
  std::vector<hvd::Tensor> params;
  for (const hvd::Tensor &p : net.input->parameters()) params.push_back(p);
  for (const hvd::Tensor &p : net.output->parameters()) params.push_back(p);
  hvd::optim::SGD opt(params, hvd::optim::SGDOptions(g_rate).momentum(0.9));

  std::vector<int64_t> order(g_samples);
  for (int i = 0; i < g_samples; i++) order[i] = i;

  int best = -1;
  for (int epoch = 1; epoch <= g_epochs; epoch++) {
    double total = 0;
    int hits = 0, batches = 0;
    shuffle(order);
    for (int64_t first = 0; first < g_samples; first += g_batch) {
      int64_t count = g_samples - first < g_batch ? g_samples - first : g_batch;
      hvd::Tensor x, y;
      double loss;
      int batch_hits;
      get_batch(order, first, count, &x, &y);
      if (train_step(&net, &opt, x, y, &loss, &batch_hits) != 0) {
        fprintf(stderr, "loss is not a number in epoch %d\n", epoch);
        return 1;
      }
      total += loss * (double)count;
      hits += batch_hits;
      batches++;
      if (!g_quiet && batches % 3 == 0) printf("  %5ld/%d  loss %.5f  rate %g\n", (long)(first + count), g_samples, loss, opt.lr());
    }
    int test_hits;
    double test_loss = test(&net, &test_hits);
    printf("epoch %2d  train loss %.5f (%d/%d)  test loss %.5f (%d/%d)\n", epoch, total / g_samples, hits, g_samples, test_loss, test_hits,
           g_test_samples);
    if (test_hits > best) {
      best = test_hits;
      hvd::save(net.input, "input.safetensors");
      hvd::save(net.output, "output.safetensors");
    }
    if (epoch % 2 == 0) {
      g_rate *= 0.5;
      opt.set_lr(g_rate);
    }
  }
  write_histogram(&net, "histogram.txt");
  printf("%s %d of %d\n", "best:", best, g_test_samples);
  return 0;
}
