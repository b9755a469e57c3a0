// A small convolutional network for 28 x 28 images, for vignettes/precompute/delayed-feedback-tables.R
// only: 8 filters of 3 x 3, ReLU, max-pooling by 3, a dense layer of 8 with ReLU, a dense layer of 10,
// softmax; cross-entropy by Adam whose step is rate / (1 + decay * updates).
#include <Rcpp.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace {

constexpr int kSide = 28, kConv = 26, kPool = 8, kFilters = 8, kHidden = 8, kClasses = 10;
constexpr int kFlat = kFilters * kPool * kPool;
constexpr int kFilterSize = 10;                       // 9 weights and a bias
constexpr int kFirst = kFilters * kFilterSize;        // offset of the first dense layer
constexpr int kSecond = kFirst + kHidden * (kFlat + 1);
constexpr int kParameters = kSecond + kClasses * (kHidden + 1);

struct Network {
  std::vector<float> p = std::vector<float>(kParameters, 0.0f);

  void initialise(std::mt19937& rng) {                // Glorot's uniform weights, no bias
    const auto fill = [&](int from, int outs, int ins, double fan_in, double fan_out) {
      const double reach = std::sqrt(6.0 / (fan_in + fan_out));
      for (int o = 0; o < outs; ++o) {
        for (int i = 0; i < ins; ++i) {
          const double u = static_cast<double>(rng()) / 4294967296.0;
          p[from + o * (ins + 1) + i] = static_cast<float>(reach * (2.0 * u - 1.0));
        }
      }
    };
    fill(0, kFilters, 9, 9, 72);
    fill(kFirst, kHidden, kFlat, kFlat, kHidden);
    fill(kSecond, kClasses, kHidden, kHidden, kClasses);
  }
};

struct Activations {
  float pooled[kFlat], hidden[kHidden], out[kClasses];
  int source[kFlat];                                  // where in the convolution a maximum came from
};

void forward(const Network& net, const float* image, Activations& a) {
  float map[kConv * kConv];
  for (int f = 0; f < kFilters; ++f) {
    const float* w = &net.p[f * kFilterSize];
    for (int r = 0; r < kConv; ++r) {
      float* row = map + r * kConv;
      for (int c = 0; c < kConv; ++c) row[c] = w[9];
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          const float weight = w[3 * i + j];
          const float* from = image + (r + i) * kSide + j;
          for (int c = 0; c < kConv; ++c) row[c] += weight * from[c];
        }
      }
    }
    for (int r = 0; r < kPool; ++r) {
      for (int c = 0; c < kPool; ++c) {
        int best = 3 * r * kConv + 3 * c;
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j) {
            const int k = (3 * r + i) * kConv + 3 * c + j;
            if (map[k] > map[best]) best = k;
          }
        }
        const int flat = (f * kPool + r) * kPool + c;
        a.pooled[flat] = std::max(0.0f, map[best]);
        a.source[flat] = map[best] > 0.0f ? best : -1;
      }
    }
  }
  for (int h = 0; h < kHidden; ++h) {
    const float* w = &net.p[kFirst + h * (kFlat + 1)];
    float sum = w[kFlat];
    for (int i = 0; i < kFlat; ++i) sum += w[i] * a.pooled[i];
    a.hidden[h] = std::max(0.0f, sum);
  }
  float largest = -1e30f, total = 0.0f;
  for (int k = 0; k < kClasses; ++k) {
    const float* w = &net.p[kSecond + k * (kHidden + 1)];
    a.out[k] = w[kHidden];
    for (int h = 0; h < kHidden; ++h) a.out[k] += w[h] * a.hidden[h];
    largest = std::max(largest, a.out[k]);
  }
  for (float& v : a.out) total += v = std::exp(v - largest);
  for (float& v : a.out) v /= total;
}

void backward(const Network& net, const float* image, int label, const Activations& a,
              std::vector<float>& gradient) {
  float d_hidden[kHidden] = {0.0f}, d_flat[kFlat] = {0.0f};
  for (int k = 0; k < kClasses; ++k) {
    const float d = a.out[k] - (k == label ? 1.0f : 0.0f);
    const int at = kSecond + k * (kHidden + 1);
    for (int h = 0; h < kHidden; ++h) {
      gradient[at + h] += d * a.hidden[h];
      d_hidden[h] += d * net.p[at + h];
    }
    gradient[at + kHidden] += d;
  }
  for (int h = 0; h < kHidden; ++h) {
    if (a.hidden[h] <= 0.0f) continue;
    const int at = kFirst + h * (kFlat + 1);
    for (int i = 0; i < kFlat; ++i) {
      gradient[at + i] += d_hidden[h] * a.pooled[i];
      d_flat[i] += d_hidden[h] * net.p[at + i];
    }
    gradient[at + kFlat] += d_hidden[h];
  }
  for (int i = 0; i < kFlat; ++i) {
    if (a.source[i] < 0) continue;
    float* g = &gradient[i / (kPool * kPool) * kFilterSize];
    const float* corner = image + a.source[i] / kConv * kSide + a.source[i] % kConv;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) g[3 * r + c] += d_flat[i] * corner[r * kSide + c];
    }
    g[9] += d_flat[i];
  }
}

}  // namespace

// Accuracy on the validation images. Images in columns, values in [0, 1].
// [[Rcpp::export]]
double cnn_accuracy(Rcpp::NumericMatrix train, Rcpp::IntegerVector labels, Rcpp::NumericMatrix validation,
                    Rcpp::IntegerVector validation_labels, int batch, double rate, double decay,
                    int epochs, int seed) {
  std::mt19937 rng(static_cast<unsigned>(seed));
  Network net;
  net.initialise(rng);
  const std::vector<float> images(train.begin(), train.end());
  const std::vector<float> others(validation.begin(), validation.end());
  const int n = train.ncol();
  std::vector<int> order(n);
  for (int i = 0; i < n; ++i) order[i] = i;
  std::vector<float> gradient(kParameters), first(kParameters, 0.0f), second(kParameters, 0.0f);
  Activations a;
  double updates = 0.0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), rng);
    for (int from = 0; from < n; from += batch) {
      const int size = std::min(batch, n - from);
      std::fill(gradient.begin(), gradient.end(), 0.0f);
      for (int k = from; k < from + size; ++k) {
        const float* image = &images[static_cast<std::size_t>(order[k]) * kSide * kSide];
        forward(net, image, a);
        backward(net, image, labels[order[k]], a, gradient);
      }
      const double step = rate / (1.0 + decay * updates);
      updates += 1.0;
      const double c1 = 1.0 - std::pow(0.9, updates), c2 = 1.0 - std::pow(0.999, updates);
      for (int i = 0; i < kParameters; ++i) {
        const float g = gradient[i] / static_cast<float>(size);
        first[i] = 0.9f * first[i] + 0.1f * g;
        second[i] = 0.999f * second[i] + 0.001f * g * g;
        net.p[i] -= static_cast<float>(step * (first[i] / c1) / (std::sqrt(second[i] / c2) + 1e-7));
      }
      Rcpp::checkUserInterrupt();
    }
  }
  int right = 0;
  for (int i = 0; i < validation.ncol(); ++i) {
    forward(net, &others[static_cast<std::size_t>(i) * kSide * kSide], a);
    right += std::max_element(a.out, a.out + kClasses) - a.out == validation_labels[i];
  }
  return static_cast<double>(right) / validation.ncol();
}
