#include "fitting/average.h"

#include "base/golden_points.h"
#include "linalg/decompositions.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

constexpr double kStep = 0.05;       // of differences of slopes, in logarithms
constexpr double kWidest = 2.5;      // sd of a proposal in any direction,
constexpr double kInflation = 1.25;  // and how much wider than the density it is
constexpr double kSame = 0.1;        // modes that differ by less everywhere are one
constexpr double kHopeless = 12.0;   // a mode's log density so far below the best's is none
constexpr Index kMostModes = 4;
constexpr Index kMostExplored = 150;  // points that modes are looked for with
constexpr double kFar = 0.5;          // ends among some points that differ by less are one
constexpr double kFlops = 6e8;       // about what may be spent on weighing,
constexpr Index kFewestDraws = 48, kMostDraws = 240;

// The inverse of the standard normal distribution function (Acklam's rational approximation, to 1e-9).
double normal_quantile(double p) {
  static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02,
                             1.383577518672690e+02, -3.066479806614716e+01, 2.506628277459239e+00};
  static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                             6.680131188771972e+01, -1.328068155288572e+01};
  static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                             -2.549732539343734e+00, 4.374664141464968e+00, 2.938163982698783e+00};
  static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                             3.754408661907416e+00};
  const double tail = std::min(p, 1.0 - p);
  if (tail < 0.02425) {
    const double q = std::sqrt(-2.0 * std::log(tail));
    const double x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
                     ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1.0);
    return p < 0.5 ? x : -x;
  }
  const double q = p - 0.5, r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1.0);
}

// The coordinates that are averaged over: logarithms, of numbers between 0 and 1 the logit.
class Coordinates {
 public:
  Coordinates(const FitProblem& problem, const VectorXd& unit)
      : lower_(problem.lower), upper_(problem.upper), base_(problem.start), unit_(unit) {
    for (Index p = 0; p < lower_.size(); ++p) {
      if (lower_[p] < upper_[p]) free_.push_back(p);
    }
  }
  Index size() const { return static_cast<Index>(free_.size()); }
  VectorXd of(const VectorXd& parameters) const {
    VectorXd z(size());
    for (Index i = 0; i < size(); ++i) {
      const double u = std::min(parameters[at(i)], is_unit(i) ? -1e-6 : kInf);
      z[i] = is_unit(i) ? u - std::log(-std::expm1(u)) : u;
    }
    return z;
  }
  VectorXd parameters(const VectorXd& z) const {
    VectorXd out = base_.cwiseMax(lower_).cwiseMin(upper_);
    for (Index i = 0; i < size(); ++i) out[at(i)] = is_unit(i) ? -std::log1p(std::exp(-z[i])) : z[i];
    return out;
  }
  bool inside(const VectorXd& parameters) const {
    for (const Index p : free_) {
      if (!(parameters[p] >= lower_[p] && parameters[p] <= upper_[p])) return false;
    }
    return true;
  }
  VectorXd clamped(const VectorXd& parameters) const {
    return parameters.cwiseMax(lower_).cwiseMin(upper_);
  }
  // log |d parameters / d z|, and slopes by z from those by parameters (with that of the former).
  double log_jacobian(const VectorXd& parameters) const {
    double sum = 0.0;
    for (Index i = 0; i < size(); ++i) {
      if (is_unit(i)) sum += std::log(-std::expm1(parameters[at(i)]));
    }
    return sum;
  }
  VectorXd slopes(const VectorXd& by_parameter, const VectorXd& parameters) const {
    VectorXd out(size());
    for (Index i = 0; i < size(); ++i) {
      const double rest = is_unit(i) ? -std::expm1(parameters[at(i)]) : 1.0;
      out[i] = by_parameter[at(i)] * rest - (is_unit(i) ? 1.0 - rest : 0.0);
    }
    return out;
  }

 private:
  Index at(Index i) const { return free_[static_cast<std::size_t>(i)]; }
  bool is_unit(Index i) const { return unit_[at(i)] != 0.0; }
  VectorXd lower_, upper_, base_, unit_;
  std::vector<Index> free_;
};

// A normal distribution about a mode: `root` R with R R' = its inflated covariance.
struct Hill {
  VectorXd top;
  MatrixXd precision_factor;  // lower; of the inflated covariance's inverse
  double log_det = 0.0;       // of that factor
  double density = -kInf;     // the posterior's at the top

  VectorXd point(VectorXd normal) const {
    solve_lower_transposed(precision_factor, normal);
    return top + normal;
  }
  double log_density(const VectorXd& z) const {
    double sum = log_det;
    const VectorXd gap = z - top;
    for (Index j = 0; j < gap.size(); ++j) {
      double along = 0.0;
      for (Index i = j; i < gap.size(); ++i) along += precision_factor(i, j) * gap[i];
      sum -= 0.5 * along * along;
    }
    return sum;
  }
};

class Averager {
 public:
  Averager(MarginalLikelihood& likelihood, const AverageProblem& problem,
           const Fit::Minimizers& minimizers, Index max_iterations)
      : problem_(problem),
        fit_(likelihood, problem.fit, minimizers, max_iterations),
        coordinates_(fit_.problem(), problem.unit) {}

  void climb(const std::vector<VectorXd>& points) {
    for (const VectorXd& point : points) ends_.push_back(coordinates_.of(fit_.climb(point)));
  }
  Fit& fit() { return fit_; }
  ModelAverage average(bool fit_mean, Index observations);

 private:
  struct Draw {
    VectorXd parameters;
    double mean, mean_sd, log_weight, order;
  };
  double density(const VectorXd& z, VectorXd* slopes);
  bool make_hill(const VectorXd& top, Hill& hill);
  std::vector<Hill> hills();
  std::vector<Draw> draws(const std::vector<Hill>& hills, Index count, bool fit_mean);

  const AverageProblem& problem_;
  Fit fit_;
  Coordinates coordinates_;
  std::vector<VectorXd> ends_;
};

double Averager::density(const VectorXd& z, VectorXd* slopes) {
  const VectorXd parameters = coordinates_.parameters(z);
  if (!coordinates_.inside(parameters)) return -kInf;
  VectorXd by_parameter;
  const double value = fit_.density(parameters, slopes ? &by_parameter : nullptr) +
                       coordinates_.log_jacobian(parameters);
  if (slopes) *slopes = coordinates_.slopes(by_parameter, parameters);
  return std::isfinite(value) ? value : -kInf;
}

// The curvature by forward differences of the slopes (backward at an upper bound).
bool Averager::make_hill(const VectorXd& top, Hill& hill) {
  const Index d = top.size();
  VectorXd here, there;
  hill.top = top;
  hill.density = density(top, &here);
  if (!(hill.density > -kInf)) return false;
  MatrixXd curvature(d, d);
  for (Index i = 0; i < d; ++i) {
    double step = kStep;
    VectorXd beside = top;
    beside[i] += step;
    if (!(density(beside, &there) > -kInf)) {
      step = -kStep;
      beside[i] = top[i] + step;
      if (!(density(beside, &there) > -kInf)) return false;
    }
    curvature.col(i) = (here - there) / step;
  }
  if (!curvature.allFinite()) return false;
  MatrixXd symmetric = curvature;
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < d; ++i) symmetric(i, j) = 0.5 * (curvature(i, j) + curvature(j, i));
  }
  const double least = 1.0 / (kWidest * kWidest), lowest = symmetric_eigenvalues(symmetric)[0];
  if (lowest < least) symmetric.diagonal().array() += least - lowest;
  symmetric /= kInflation * kInflation;
  if (!cholesky(symmetric)) return false;
  hill.precision_factor = symmetric;
  hill.log_det = 0.0;
  for (Index i = 0; i < d; ++i) hill.log_det += std::log(symmetric(i, i));
  return true;
}

std::vector<Hill> Averager::hills() {
  std::vector<Hill> all, out;
  for (const VectorXd& end : ends_) {
    const auto same = [&](const Hill& other) { return (other.top - end).cwiseAbs().maxCoeff() < kSame; };
    if (std::any_of(all.begin(), all.end(), same)) continue;
    Hill hill;
    if (make_hill(end, hill)) all.push_back(std::move(hill));
  }
  // By evidence: density times volume.
  std::stable_sort(all.begin(), all.end(), [](const Hill& a, const Hill& b) {
    return a.density - a.log_det > b.density - b.log_det;
  });
  for (Hill& hill : all) {
    const bool counts = out.empty() || hill.density - hill.log_det >
                                           out[0].density - out[0].log_det - kHopeless;
    if (counts && static_cast<Index>(out.size()) < kMostModes) out.push_back(std::move(hill));
  }
  return out;
}

// Equally many of each hill, each weighed by the density over that of all hills together.
std::vector<Averager::Draw> Averager::draws(const std::vector<Hill>& hills, Index count,
                                            bool fit_mean) {
  std::vector<Draw> out;
  const auto kinds = static_cast<Index>(hills.size());
  const Index each = std::max<Index>(1, count / kinds), d = coordinates_.size();
  const MatrixXd cube = golden_points(each, std::max<Index>(d, 1));
  for (Index h = 0; h < kinds; ++h) {
    for (Index i = 0; i < each; ++i) {
      VectorXd normal(d);
      for (Index c = 0; c < d; ++c) {
        normal[c] = normal_quantile(std::min(std::max(cube(i, c), 1e-6), 1.0 - 1e-6));
      }
      const VectorXd z = hills[static_cast<std::size_t>(h)].point(normal);
      const double posterior = density(z, nullptr);
      if (!(posterior > -kInf)) continue;
      double top = -kInf;
      for (const Hill& hill : hills) top = std::max(top, hill.log_density(z));
      double sum = 0.0;
      for (const Hill& hill : hills) sum += std::exp(hill.log_density(z) - top);
      const Evidence& known = fit_.likelihood();
      const double spread = fit_mean ? 1.0 / std::sqrt(known.mean_precision()) : 0.0;
      const VectorXd parameters = coordinates_.parameters(z);
      out.push_back({parameters, known.mean(), spread, posterior - top - std::log(sum),
                     parameters[parameters.size() - 1]});
    }
  }
  return out;
}

ModelAverage Averager::average(bool fit_mean, Index observations) {
  ModelAverage out;
  const std::vector<Hill> found = hills();
  out.modes = static_cast<Index>(found.size());
  out.best = fit_.best();
  const double each = std::pow(static_cast<double>(observations), 3.0);
  const auto wanted = static_cast<Index>(std::min(kFlops / each, 1e6));
  const Index count = std::max(kFewestDraws, std::min(kMostDraws, wanted));
  std::vector<Draw> drawn;
  if (!found.empty() && coordinates_.size() > 0) drawn = draws(found, count, fit_mean);
  if (drawn.empty()) {
    out.models.push_back({out.best.parameters, out.best.mean, 1.0});
    return out;
  }
  double top = -kInf, sum = 0.0, squares = 0.0;
  for (const Draw& draw : drawn) top = std::max(top, draw.log_weight);
  for (Draw& draw : drawn) {
    draw.log_weight = std::exp(draw.log_weight - top);
    sum += draw.log_weight;
    squares += draw.log_weight * draw.log_weight;
  }
  out.effective = sum * sum / squares;
  // In the order of their noise, one at the middle of each part of the weight.
  std::stable_sort(drawn.begin(), drawn.end(),
                   [](const Draw& a, const Draw& b) { return a.order < b.order; });
  const double part = sum / static_cast<double>(problem_.models);
  double passed = 0.0, next = 0.5 * part;
  Index taken = 0;
  for (const Draw& draw : drawn) {
    passed += draw.log_weight;
    Index times = 0;
    while (next < passed && taken < problem_.models) {
      next += part;
      ++times;
      ++taken;
    }
    if (times == 0) continue;
    out.models.push_back({draw.parameters, draw.mean, static_cast<double>(times)});
    // Where the mean is not known either, it is as far off as one of evenly many quantiles.
    const double u = 0.6180339887498949 * static_cast<double>(out.models.size());
    if (draw.mean_sd > 0.0) {
      out.models.back().mean += draw.mean_sd * normal_quantile(0.02 + 0.96 * (u - std::floor(u)));
    }
  }
  for (WeighedModel& one : out.models) one.weight /= static_cast<double>(taken);
  return out;
}

std::vector<VectorXd> distinct(const std::vector<VectorXd>& points) {
  std::vector<VectorXd> out;
  for (const VectorXd& point : points) {
    const auto near = [&point](const VectorXd& other) {
      return (point - other).cwiseAbs().maxCoeff() < kFar;
    };
    if (std::none_of(out.begin(), out.end(), near)) out.push_back(point);
  }
  return out;
}

}  // namespace

ModelAverage average_models(const Kernel& kernel, const Readings& readings, bool fit_mean,
                            const AverageProblem& problem, const Fit::Minimizers& minimizers,
                            Index max_iterations) {
  AverageProblem own = problem;
  // (The scale is averaged over like everything else.)
  own.fit.single_variance = false;
  MarginalLikelihood likelihood(kernel, readings, fit_mean);
  Averager averager(likelihood, own, minimizers, max_iterations);
  std::vector<VectorXd> starts;
  for (Index i = 0; i < own.starts.rows(); ++i) starts.push_back(own.starts.row(i).transpose());
  if (readings.X.rows() <= kMostExplored) {
    averager.climb(averager.fit().explore());
    averager.climb(starts);
  } else {
    // Some of the points are enough to find the right hills.
    MarginalLikelihood part(kernel, part_of(readings), fit_mean);
    Fit fit(part, own.fit, minimizers, max_iterations);
    std::vector<VectorXd> ends = fit.explore();
    for (const VectorXd& start : starts) ends.push_back(fit.climb(start));
    ends.push_back(fit.problem().start);
    averager.climb(distinct(ends));
  }
  ModelAverage out = averager.average(fit_mean, readings.X.rows());
  out.best.evaluations = likelihood.evaluations();
  return out;
}

}  // namespace gpb
