// SPDX-License-Identifier: Apache-2.0
#include <hvd/data/datasets.hpp>

#include <hvd/random.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace hvd::data::datasets {

namespace {

constexpr int kCanvasSide = 28;

struct Point {
  double x, y;
};

// Strokes of a glyph in the unit square (x to the right, y down): lines, and ellipses or parts of them.
struct Glyph {
  std::vector<std::array<Point, 2>> segments;

  Glyph& line(Point a, Point b) {
    segments.push_back({a, b});
    return *this;
  }
  // Angles in degrees; 0 is the right end, 90 the lowest point.
  Glyph& arc(Point centre, double rx, double ry, double from, double to) {
    constexpr int kPieces = 14;
    constexpr double kRadians = 3.14159265358979323846 / 180;
    const auto at = [&](int i) {
      const double angle = (from + (to - from) * i / kPieces) * kRadians;
      return Point{centre.x + rx * std::cos(angle), centre.y + ry * std::sin(angle)};
    };
    for (int i = 0; i < kPieces; ++i) line(at(i), at(i + 1));
    return *this;
  }
};

std::array<Glyph, 10> make_glyphs() {
  std::array<Glyph, 10> g;
  g[0].arc({.5, .5}, .32, .46, 0, 360);
  g[1].line({.3, .25}, {.55, .05}).line({.55, .05}, {.55, .95});
  g[2].arc({.5, .3}, .3, .25, 180, 385).line({.77, .41}, {.2, .94}).line({.2, .94}, {.83, .94});
  g[3].arc({.45, .28}, .3, .23, 210, 450).arc({.45, .73}, .34, .22, 270, 510);
  g[4].line({.62, .05}, {.16, .65}).line({.16, .65}, {.86, .65}).line({.62, .05}, {.62, .95});
  g[5].line({.78, .07}, {.28, .07}).line({.28, .07}, {.24, .47}).arc({.46, .68}, .32, .27, 228, 500);
  g[6].line({.68, .05}, {.31, .45}).line({.31, .45}, {.22, .68}).arc({.5, .69}, .28, .26, 0, 360);
  g[7].line({.16, .07}, {.83, .07}).line({.83, .07}, {.4, .95});
  g[8].arc({.5, .27}, .24, .21, 0, 360).arc({.5, .72}, .3, .24, 0, 360);
  g[9].arc({.49, .31}, .27, .26, 0, 360).line({.76, .31}, {.68, .95});
  return g;
}

// How one digit is written: an affine map from the unit square to pixels, and the pen.
class Hand {
 public:
  Hand(uint64_t seed, uint64_t sample) {
    uint64_t draw = 0;
    const auto uniform = [&](double low, double high) { return low + (high - low) * philox_uniform(seed, sample, draw++); };
    const double angle = uniform(-0.22, 0.22), scale_x = uniform(14, 20), scale_y = uniform(17, 22), shear = uniform(-0.15, 0.25);
    xx_ = std::cos(angle) * scale_x;
    xy_ = -(std::sin(angle) + shear * std::cos(angle)) * scale_y;
    yx_ = std::sin(angle) * scale_x;
    yy_ = (std::cos(angle) - shear * std::sin(angle)) * scale_y;
    centre_ = {13.5 + uniform(-2, 2), 13.5 + uniform(-2, 2)};
    half_width = uniform(0.7, 1.5);
    ink = uniform(0.75, 1);
  }
  Point operator()(Point p) const {
    const double x = p.x - 0.5, y = p.y - 0.5;
    return {centre_.x + xx_ * x + xy_ * y, centre_.y + yx_ * x + yy_ * y};
  }
  double half_width, ink;

 private:
  double xx_, xy_, yx_, yy_;
  Point centre_;
};

double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
  const double t = length2 > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length2, 0.0, 1.0) : 0.0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

using Canvas = std::array<double, kCanvasSide * kCanvasSide>;

void draw_segment(Canvas& canvas, Point a, Point b, const Hand& hand) {
  const double reach = hand.half_width + 0.5;
  const auto first = [&](double v) { return std::clamp(static_cast<int>(std::floor(v - reach)), 0, kCanvasSide - 1); };
  const auto last = [&](double v) { return std::clamp(static_cast<int>(std::ceil(v + reach)), 0, kCanvasSide - 1); };
  for (int y = first(std::min(a.y, b.y)); y <= last(std::max(a.y, b.y)); ++y)
    for (int x = first(std::min(a.x, b.x)); x <= last(std::max(a.x, b.x)); ++x) {
      const double cover = std::clamp(reach - distance({double(x), double(y)}, a, b), 0.0, 1.0);
      double& pixel = canvas[static_cast<size_t>(y * kCanvasSide + x)];
      pixel = std::max(pixel, cover * hand.ink);
    }
}

// Noise of +-0.16 on every pixel, 16 pixels from one block of random bytes.
void write_pixels(const Canvas& canvas, uint64_t seed, uint64_t sample, uint8_t* out) {
  PhiloxBlock block{};
  for (size_t i = 0; i < canvas.size(); ++i) {
    if (i % 16 == 0) block = philox(seed + 1, sample, i / 16);
    const uint32_t byte = block.word[i % 16 / 4] >> (8 * (i % 4)) & 0xff;
    const double noise = (static_cast<double>(byte) / 255 - 0.5) * 0.32;
    out[i] = static_cast<uint8_t>(std::lround(255 * std::clamp(canvas[i] + noise, 0.0, 1.0)));
  }
}

std::shared_ptr<const Images> make_digits(size_t n, uint64_t seed) {
  const std::array<Glyph, 10> glyphs = make_glyphs();
  auto images = std::make_shared<Images>();
  images->count = static_cast<int64_t>(n);
  images->rows = images->cols = kCanvasSide;
  images->pixels.resize(n * kCanvasSide * kCanvasSide);
  images->labels.resize(n);
  const uint64_t shapes = 2 * seed, classes = 2 * seed + 1;  // apart from each other and from those of other seeds
  const uint64_t key = 0x6469676974730000;                   // apart from the streams of programs
  for (size_t i = 0; i < n; ++i) {
    const auto label = static_cast<uint8_t>(philox_below(key + classes, i, 0, 10));
    const Hand hand(key + shapes, i);
    Canvas canvas{};
    for (const auto& [a, b] : glyphs[label].segments) draw_segment(canvas, hand(a), hand(b), hand);
    write_pixels(canvas, ~(key + shapes), i, images->pixels.data() + i * kCanvasSide * kCanvasSide);
    images->labels[i] = label;
  }
  return images;
}

}  // namespace

Digits::Digits(size_t n, uint64_t seed) : ImageDataset(make_digits(n, seed)) {}

}  // namespace hvd::data::datasets
