// Pareto fronts and their hypervolumes. Uses base/ and the logarithms of scores/log_normal.h.
#include "scores/pareto_front.h"

#include "base/normal.h"
#include "base/ordering.h"
#include "base/vectors.h"
#include "scores/log_normal.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace gpb {

namespace {

// Is a above b in every coordinate?
bool is_above(const VectorXd& a, const VectorXd& b) {
  for (Index k = 0; k < a.size(); ++k) {
    if (!(a[k] > b[k])) return false;
  }
  return true;
}

bool dominates(const VectorXd& a, const VectorXd& b) {
  for (Index k = 0; k < a.size(); ++k) {
    if (!(a[k] >= b[k])) return false;
  }
  return a != b;
}

}  // namespace

MatrixXd nondominated(const MatrixXd& Y) {
  std::vector<Index> kept;
  for (Index i = 0; i < Y.rows(); ++i) {
    bool out = false;
    for (Index j = 0; j < Y.rows() && !out; ++j) {
      if (j == i) continue;
      const VectorXd one = row_of(Y, i), other = row_of(Y, j);
      out = dominates(other, one) || (j < i && one == other);
    }
    if (!out) kept.push_back(i);
  }
  MatrixXd front(static_cast<Index>(kept.size()), Y.cols());
  for (std::size_t k = 0; k < kept.size(); ++k) copy_row(front, static_cast<Index>(k), Y, kept[k]);
  return front;
}

namespace {

MatrixXd sorted_by_last(const MatrixXd& front) {
  const Index last = front.cols() - 1;
  const auto order = stable_order(front.rows(), [&](Index a, Index b) { return front(a, last) > front(b, last); });
  MatrixXd out(front.rows(), front.cols());
  for (std::size_t k = 0; k < order.size(); ++k) copy_row(out, static_cast<Index>(k), front, order[k]);
  return out;
}

}  // namespace

MatrixXd front_above(const MatrixXd& Y, const VectorXd& reference) {
  std::vector<Index> above;
  for (Index i = 0; i < Y.rows(); ++i) {
    if (is_above(row_of(Y, i), reference)) above.push_back(i);
  }
  MatrixXd some(static_cast<Index>(above.size()), Y.cols());
  for (std::size_t k = 0; k < above.size(); ++k) copy_row(some, static_cast<Index>(k), Y, above[k]);
  return nondominated(some);
}

// Row by row: the part of each row's box that earlier rows, in the order of the last column, do not dominate (While et
// al. 2012).
double hypervolume(const MatrixXd& front, const VectorXd& reference) {
  if (front.rows() == 0) return 0.0;
  if (front.cols() == 1) return std::max(0.0, front.maxCoeff() - reference[0]);
  const MatrixXd rows = sorted_by_last(front);
  double sum = 0.0;
  for (Index i = 0; i < rows.rows(); ++i) {
    sum += hypervolume_gain(rows.topRows(i), reference, row_of(rows, i));
  }
  return sum;
}

double hypervolume_gain(const MatrixXd& front, const VectorXd& reference, const VectorXd& point) {
  if (!is_above(point, reference)) return 0.0;
  const double whole = (point - reference).prod();
  if (front.rows() == 0) return whole;
  // Another point reduces the gain only by the part that it shares with the point's box.
  MatrixXd shared = front;
  for (Index k = 0; k < shared.cols(); ++k) {
    for (Index i = 0; i < shared.rows(); ++i) shared(i, k) = std::min(shared(i, k), point[k]);
  }
  const MatrixXd limited = front_above(shared, reference);
  if (limited.rows() == 0) return whole;
  if (limited.rows() == 1) return std::max(0.0, whole - (limited.row(0).transpose() - reference).prod());
  return std::max(0.0, whole - hypervolume(limited, reference));
}

double log_expected_hypervolume_gain(const MatrixXd& front, const VectorXd& reference, const double* mean,
                                     const double* sd) {
  // In increasing order of the first coordinate: strips [a_i, a_{i+1}], of height b_i in the second coordinate.
  std::vector<Index> order(static_cast<std::size_t>(front.rows()));
  std::iota(order.begin(), order.end(), Index(0));
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return front(i, 0) < front(j, 0); });
  const auto log_psi = [&](int k, double from) {
    return std::log(sd[k]) + log_improvement((mean[k] - from) / sd[k]);
  };
  std::vector<double> terms;
  for (std::size_t i = 0; i <= order.size(); ++i) {
    const double a = i == 0 ? reference[0] : front(order[i - 1], 0);
    const double b = i == order.size() ? reference[1] : front(order[i], 1);
    double strip = log_psi(0, a);
    if (i < order.size()) {
      const double end = front(order[i], 0);
      if (end - a < 1e-5 * sd[0]) {
        strip = std::log(end - a) + normal_log_cdf((mean[0] - 0.5 * (a + end)) / sd[0]);
      } else {
        strip += log1m_exp(std::min(0.0, log_psi(0, end) - strip));
      }
    }
    terms.push_back(strip + log_psi(1, b));
  }
  const double largest = *std::max_element(terms.begin(), terms.end());
  if (!(largest > -kInf)) return -kInf;
  double sum = 0.0;
  for (const double term : terms) sum += std::exp(term - largest);
  return largest + std::log(sum);
}

}  // namespace gpb
