// Functions of ranking.h: the likelihood of rankings (Plackett and Luce).
#include "likelihoods/ranking.h"

#include <algorithm>
#include <cmath>

namespace gpb {

template <class Use>
double RankingTerms::each_stage(const VectorXd& f, Use use) const {
  double sum = 0.0;
  VectorXd p;
  for (const RankingSites& ranking : rankings_) {
    for (Index s = 0; s < std::min(ranking.stages, ranking.size - 1); ++s) {
      // f minus f of the chosen point.
      p.setZero(ranking.size - s);
      for (Index k = s + 1; k < ranking.size; ++k) {
        const PairSite& pair = ranking.pair(s, k);
        p[k - s] = -pair.sign * f[pair.functional];
      }
      const double largest = p.maxCoeff();
      p = (p.array() - largest).exp();
      const double total = p.sum();
      sum += ranking.weight * (-largest - std::log(total));
      p /= total;
      use(ranking, s, p);
    }
  }
  return sum;
}

double RankingTerms::log_likelihood(const VectorXd& f) const {
  return each_stage(f, [](const RankingSites&, Index, const VectorXd&) {});
}

double RankingTerms::sites(const VectorXd& f, VectorXd& weight, VectorXd& weighted) const {
  weight.setZero(f.size());
  weighted.setZero(f.size());
  const double sum = each_stage(f, [&](const RankingSites& ranking, Index s, const VectorXd& p) {
    for (Index i = s; i < ranking.size; ++i) {
      for (Index j = i + 1; j < ranking.size; ++j) {
        const PairSite& pair = ranking.pair(i, j);
        if (pair.sign == 0.0) continue;
        weight[pair.functional] += ranking.weight * p[i - s] * p[j - s];
        if (i == s) weighted[pair.functional] += ranking.weight * pair.sign * p[j - s];
      }
    }
  });
  weight = weight.cwiseMax(kLeastWeight);
  weighted += times(weight, f);
  return sum;
}

// dp_i/df_k = p_i ([i = k] - p_k). The slopes of a stage sum to zero, so that they can be assigned to the differences
// from the chosen point.
VectorXd RankingTerms::weight_slope(const VectorXd& f, const VectorXd& v) const {
  VectorXd out = VectorXd::Zero(f.size()), slope;
  each_stage(f, [&](const RankingSites& ranking, Index s, const VectorXd& p) {
    slope.setZero(p.size());
    double sum = 0.0;
    for (Index i = s; i < ranking.size; ++i) {
      for (Index j = i + 1; j < ranking.size; ++j) {
        const PairSite& pair = ranking.pair(i, j);
        if (pair.sign == 0.0) continue;
        const double one = ranking.weight * v[pair.functional] * p[i - s] * p[j - s];
        slope[i - s] += one;
        slope[j - s] += one;
        sum += one;
      }
    }
    slope -= 2.0 * sum * p;
    for (Index k = s + 1; k < ranking.size; ++k) {
      const PairSite& pair = ranking.pair(s, k);
      out[pair.functional] -= pair.sign * slope[k - s];
    }
  });
  return out;
}

}  // namespace gpb
