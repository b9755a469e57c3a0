// Functions of average.h: averages over hyperparameters: weighted points that represent their posterior distribution.
// Uses base/ and linalg/.
#include "fitting/average.h"

#include "base/golden_points.h"
#include "base/normal.h"
#include "base/ordering.h"
#include "linalg/decompositions.h"
#include "linalg/products.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpb {

namespace {

constexpr double kStep = 0.05;       // for differences of gradients, in logarithms
constexpr double kWidest = 2.5;      // largest sd about a mode, before the inflation
constexpr double kInflation = 1.25;  // ratio of a proposal's sd to that of the density
constexpr double kSame = 0.1;        // modes that differ by less in all coordinates are the same
constexpr double kHopeless = 12.0;   // modes whose log density is lower than the best by more than this are ignored
constexpr Index kMostModes = 4;
constexpr Index kMostExplored = 150;  // with at most this number of points the search for modes uses all
constexpr double kFar = 0.5;          // ends of searches with a subset that differ by less are the same
constexpr double kFlops = 2e8;       // approximate limit of operations for weights
constexpr Index kFewestDraws = 48, kMostDraws = 240;
constexpr Index kDrawsEach = 8;     // with many points: draws for each model of the average,
constexpr Index kMostClimbed = 2;   // and local searches that use all points; by neighbours there is one

// The coordinates of the average: logarithms, or logits of numbers between 0 and 1.
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
    VectorXd out = clamped(base_, lower_, upper_);
    for (Index i = 0; i < size(); ++i) out[at(i)] = is_unit(i) ? -std::log1p(std::exp(-z[i])) : z[i];
    return out;
  }
  bool inside(const VectorXd& parameters) const {
    for (const Index p : free_) {
      if (!(parameters[p] >= lower_[p] && parameters[p] <= upper_[p])) return false;
    }
    return true;
  }
  VectorXd within(const VectorXd& parameters) const {
    return clamped(parameters, lower_, upper_);
  }
  // log |d parameters / d z|, and the gradient by z from that by parameters (including the gradient of the former).
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

// A normal distribution about a mode, with a covariance larger than that of the density.
struct Mode {
  VectorXd top;
  MatrixXd precision_factor;  // lower Cholesky factor of the inverse covariance
  double log_det = 0.0;       // of that factor
  double density = -kInf;     // log posterior density at `top`

  // Up to a constant.
  double log_evidence() const { return density - log_det; }
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

// The part of one kernel in an average.
class Averager {
 public:
  struct Draw {
    Index kernel;
    VectorXd parameters;
    double mean, mean_sd, log_weight;
  };

  Averager(std::unique_ptr<GaussianEvidence> likelihood, double log_prior, bool fit_mean,
           const AverageProblem& problem, const Minimizers& minimizers, Index max_iterations, double tolerance)
      : likelihood_(std::move(likelihood)),
        fit_mean_(fit_mean),
        log_prior_(log_prior),
        fit_(*likelihood_, problem.fit, minimizers, max_iterations, tolerance),
        coordinates_(fit_.problem(), problem.unit) {}

  // `least`: after a search whose result is less likely, no other search is begun.
  void local_search(const std::vector<VectorXd>& points, double least = -kInf) {
    for (const VectorXd& point : points) {
      ends_.push_back(coordinates_.of(fit_.local_search(point)));
      if (objective() < least) break;
    }
  }
  Fit& fit() { return fit_; }
  // At the best mode.
  double objective() { return fit_.best().objective + log_prior_; }
  Index evaluations() const { return likelihood_->evaluations(); }
  // The distinct modes at the ends of local searches, by evidence: density times volume. Modes whose density is below
  // `least` are left out.
  std::vector<Mode> modes(double least);
  // The same number of draws about each mode. A draw's weight is its posterior density over that of the mixture of all
  // modes of this kernel.
  std::vector<Draw> draws(Index kernel, const std::vector<Mode>& modes, Index each);

 private:
  double density(const VectorXd& z, VectorXd* slopes);
  bool make_mode(const VectorXd& top, double least, Mode& mode);

  std::unique_ptr<GaussianEvidence> likelihood_;
  bool fit_mean_;
  double log_prior_;
  Fit fit_;
  Coordinates coordinates_;
  std::vector<VectorXd> ends_;
};

double Averager::density(const VectorXd& z, VectorXd* slopes) {
  const VectorXd parameters = coordinates_.parameters(z);
  if (!coordinates_.inside(parameters)) return -kInf;
  VectorXd by_parameter;
  const double value = fit_.density(parameters, slopes ? &by_parameter : nullptr) +
                       coordinates_.log_jacobian(parameters) + log_prior_;
  if (slopes) *slopes = coordinates_.slopes(by_parameter, parameters);
  return std::isfinite(value) ? value : -kInf;
}

// The curvature, from forward differences of the gradient (backward at an upper bound).
bool Averager::make_mode(const VectorXd& top, double least, Mode& mode) {
  const Index d = top.size();
  VectorXd here, there;
  mode.top = top;
  mode.density = density(top, &here);
  if (!(mode.density > least)) return false;
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
  const bool finite = std::all_of(curvature.data(), curvature.data() + curvature.size(),
                                  [](double one) { return std::isfinite(one); });
  if (!finite) return false;
  MatrixXd symmetric = curvature;
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < d; ++i) symmetric(i, j) = 0.5 * (curvature(i, j) + curvature(j, i));
  }
  const double flattest = 1.0 / (kWidest * kWidest), lowest = symmetric_eigenvalues(symmetric)[0];
  if (lowest < flattest) add_to_diagonal(symmetric, flattest - lowest);
  symmetric /= kInflation * kInflation;
  if (!cholesky(symmetric)) return false;
  mode.precision_factor = symmetric;
  mode.log_det = 0.0;
  for (Index i = 0; i < d; ++i) mode.log_det += std::log(symmetric(i, i));
  return true;
}

std::vector<Mode> Averager::modes(double least) {
  std::vector<Mode> out;
  if (coordinates_.size() == 0) return out;
  for (const VectorXd& end : ends_) {
    const auto same = [&](const Mode& other) { return largest_size(other.top - end) < kSame; };
    if (std::any_of(out.begin(), out.end(), same)) continue;
    Mode mode;
    if (make_mode(end, least, mode)) out.push_back(std::move(mode));
  }
  put_in_order(out, [](const Mode& a, const Mode& b) { return a.log_evidence() > b.log_evidence(); });
  return out;
}

std::vector<Averager::Draw> Averager::draws(Index kernel, const std::vector<Mode>& modes, Index each) {
  std::vector<Draw> out;
  const Index d = coordinates_.size();
  const MatrixXd cube = golden_points(each, std::max<Index>(d, 1));
  for (const Mode& from : modes) {
    for (Index i = 0; i < each; ++i) {
      VectorXd normal(d);
      for (Index c = 0; c < d; ++c) {
        normal[c] = normal_quantile(std::min(std::max(cube(i, c), 1e-6), 1.0 - 1e-6));
      }
      const VectorXd z = from.point(normal);
      const double posterior = density(z, nullptr);
      if (!(posterior > -kInf)) continue;
      double top = -kInf;
      for (const Mode& mode : modes) top = std::max(top, mode.log_density(z));
      double sum = 0.0;
      for (const Mode& mode : modes) sum += std::exp(mode.log_density(z) - top);
      const double spread = fit_mean_ ? 1.0 / std::sqrt(likelihood_->mean_precision()) : 0.0;
      out.push_back({kernel, coordinates_.parameters(z), likelihood_->mean(), spread,
                     posterior - top - std::log(sum)});
    }
  }
  return out;
}

using ModesOfKernels = std::vector<std::vector<Mode>>;

// Keeps the modes with the most evidence over all kernels; returns their number.
Index keep_likely(ModesOfKernels& modes) {
  double most = -kInf;
  for (const auto& some : modes) {
    for (const Mode& mode : some) most = std::max(most, mode.log_evidence());
  }
  Index kept = 0;
  for (auto& some : modes) {
    const auto hopeless = [&](const Mode& mode) { return !(mode.log_evidence() > most - kHopeless); };
    auto end = std::remove_if(some.begin(), some.end(), hopeless);
    if (end - some.begin() > kMostModes) end = some.begin() + kMostModes;
    some.erase(end, some.end());
    kept += static_cast<Index>(some.size());
  }
  return kept;
}

// Orders the draws by kernel and noise, and chooses one at the middle of each of `wanted` equal parts of the weight
// `sum`.
std::vector<WeighedModel> evenly(std::vector<Averager::Draw>& drawn, double sum, Index wanted) {
  std::vector<WeighedModel> out;
  put_in_order(drawn, [](const Averager::Draw& a, const Averager::Draw& b) {
    if (a.kernel != b.kernel) return a.kernel < b.kernel;
    return a.parameters[a.parameters.size() - 1] < b.parameters[b.parameters.size() - 1];
  });
  const double part = sum / static_cast<double>(wanted);
  double passed = 0.0, next = 0.5 * part;
  Index taken = 0;
  for (const Averager::Draw& draw : drawn) {
    passed += draw.log_weight;
    Index times = 0;
    while (next < passed && taken < wanted) {
      next += part;
      ++times;
      ++taken;
    }
    if (times == 0) continue;
    out.push_back({draw.kernel, draw.parameters, draw.mean, static_cast<double>(times)});
    // The mean is uncertain, too: each model gets another of evenly spaced quantiles.
    const double u = 0.6180339887498949 * static_cast<double>(out.size());
    if (draw.mean_sd > 0.0) {
      out.back().mean += draw.mean_sd * normal_quantile(0.02 + 0.96 * (u - std::floor(u)));
    }
  }
  for (WeighedModel& one : out) one.weight /= static_cast<double>(taken);
  return out;
}

using Averagers = std::vector<std::unique_ptr<Averager>>;

// The number of draws of all modes together: by the cost of one; with many points, kDrawsEach for each model.
Index draws_in_all(Index observations, Index points, Index wanted) {
  if (points > kFewPoints) return kDrawsEach * wanted;
  const double cost = std::pow(static_cast<double>(observations), 3.0);
  const auto affordable = static_cast<Index>(std::min(kFlops / cost, 1e6));
  return std::max(kFewestDraws, std::min(kMostDraws, affordable));
}

// `count`: the number of draws of all modes together. If `wanted` is 1, the model is the mode. With many points a
// curvature is expensive: it is computed only for modes whose density is within 2 kHopeless of the best objective.
ModelAverage average(const Averagers& kernels, Index count, Index wanted, bool many) {
  ModelAverage out;
  ModesOfKernels modes;
  double most = -kInf;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (k > 0 && !(kernels[k]->objective() > most)) continue;
    most = kernels[k]->objective();
    out.best = kernels[k]->fit().best();
    out.best_kernel = static_cast<Index>(k);
  }
  const double least = many ? most - 2.0 * kHopeless : -kInf;
  for (const auto& one : kernels) {
    const bool counts = wanted > 1 && !(one->objective() < least);
    modes.push_back(counts ? one->modes(least) : std::vector<Mode>());
  }
  out.modes = keep_likely(modes);
  const Index each = std::max<Index>(1, count / std::max<Index>(1, out.modes));
  std::vector<Averager::Draw> drawn;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    for (Averager::Draw& draw : kernels[k]->draws(static_cast<Index>(k), modes[k], each)) {
      drawn.push_back(std::move(draw));
    }
  }
  if (drawn.empty()) {
    out.models.push_back({out.best_kernel, out.best.parameters, out.best.mean, 1.0});
    return out;
  }
  double top = -kInf, sum = 0.0, squares = 0.0;
  for (const Averager::Draw& draw : drawn) top = std::max(top, draw.log_weight);
  for (Averager::Draw& draw : drawn) {
    draw.log_weight = std::exp(draw.log_weight - top);
    sum += draw.log_weight;
    squares += draw.log_weight * draw.log_weight;
  }
  out.effective = sum * sum / squares;
  out.models = evenly(drawn, sum, wanted);
  return out;
}

std::vector<VectorXd> distinct(const std::vector<VectorXd>& points) {
  std::vector<VectorXd> out;
  for (const VectorXd& point : points) {
    const auto near = [&point](const VectorXd& other) {
      return largest_size(point - other) < kFar;
    };
    if (std::none_of(out.begin(), out.end(), near)) out.push_back(point);
  }
  return out;
}

// The most likely of `ends` given all of many points, and others within `reach` of it, `count` in all. An end that a
// subset makes much less likely stays so with all points.
std::vector<VectorXd> likeliest(Fit& fit, std::vector<VectorXd> ends, double reach, Index count) {
  std::vector<std::pair<double, VectorXd>> ranked;
  for (VectorXd& end : ends) {
    const double objective = fit.screen(end);
    ranked.emplace_back(objective, end);
  }
  put_in_order(ranked, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<VectorXd> out;
  for (const auto& one : ranked) {
    if (static_cast<Index>(out.size()) < count && one.first > ranked[0].first - reach) out.push_back(one.second);
  }
  return out;
}

// Local searches with a subset of the points, for one kernel after another. Those with more points start at their ends.
class PartClimbs {
 public:
  PartClimbs(const Measurements& some, bool fit_mean, const FitProblem& problem, const Minimizers& minimizers,
             Index max_iterations, double tolerance)
      : some_(some), fit_mean_(fit_mean), problem_(problem), minimizers_(minimizers), max_iterations_(max_iterations),
        tolerance_(tolerance) {}

  // Both are empty if the kernel is much less likely than the best of the earlier ones. The first has also local
  // searches from likely parameters, if it `explores`;
  std::vector<VectorXd> ends(const Kernel& kernel, bool explores, const std::vector<VectorXd>& starts) {
    MarginalLikelihood part(kernel, some_, fit_mean_);
    Fit fit(part, problem_, minimizers_, max_iterations_, tolerance_);
    std::vector<VectorXd> ends;
    if (explores) ends = fit.explore();
    for (const VectorXd& start : starts) {
      ends.push_back(fit.local_search(start));
      // (Parameters that are unlikely given a subset of the points are even more unlikely given all of them.)
      if (is_hopeless(fit)) break;
    }
    if (explores) ends.push_back(fit.problem().start);
    return counts(fit) ? distinct(ends) : std::vector<VectorXd>();
  }
  // the second has one, from the best of the starts.
  std::vector<VectorXd> end(const Kernel& kernel, const std::vector<VectorXd>& starts, const VectorXd& at) {
    const auto part = likelihood_of_all(kernel, some_, fit_mean_, at);
    Fit fit(*part, problem_, minimizers_, max_iterations_, tolerance_);
    const VectorXd end = fit.local_search(likeliest(fit, starts, kHopeless, 1)[0]);
    return counts(fit) ? std::vector<VectorXd>{end} : std::vector<VectorXd>();
  }
  // The best parameters of the last kernel.
  const VectorXd& at() const { return at_; }

 private:
  bool is_hopeless(const Fit& fit) const { return fit.best().objective < best_ - kHopeless; }
  bool counts(const Fit& fit) {
    at_ = fit.best().parameters;
    if (is_hopeless(fit)) return false;
    best_ = std::max(best_, fit.best().objective);
    return true;
  }

  const Measurements& some_;
  bool fit_mean_;
  const FitProblem& problem_;
  const Minimizers& minimizers_;
  Index max_iterations_;
  double tolerance_;
  double best_ = -kInf;
  VectorXd at_;
};

// The searches with subsets: with few points, and with the middle number of very many. If the problem `resumes`, they
// only decide which kernels count, and the first kernel starts at the problem's start.
class SubsetClimbs {
 public:
  SubsetClimbs(const Measurements& measurements, bool fit_mean, const FitProblem& problem,
               const Minimizers& minimizers, Index max_iterations, Index points, std::size_t kernels)
      : problem_(problem), alone_(problem.resumes && kernels == 1),
        has_one_search_(most_searches_of_all(points, problem.resumes) == 1),
        has_middle_(has_middle(points) && !alone_),
        few_(part_of(measurements)),
        more_(has_middle_ ? middle_of(measurements) : Measurements{}),
        part_(few_, fit_mean, problem, minimizers, max_iterations, kManyTolerance),
        middle_(more_, fit_mean, problem, minimizers, max_iterations, kNeighbourTolerance) {}

  // Where the searches with all points start; empty if the kernel does not count. `starts`: for other kernels than the
  // first, the first one's end; then those of earlier models.
  std::vector<VectorXd> ends(const Kernel& kernel, bool is_first, const std::vector<VectorXd>& starts) {
    const VectorXd begin = is_first ? problem_.start : starts[0];
    at_ = begin;
    if (alone_) return {begin};
    const bool resumes = problem_.resumes;
    std::vector<VectorXd> ends =
        part_.ends(kernel, is_first && !resumes, resumes ? std::vector<VectorXd>{begin} : starts);
    VectorXd last = part_.at();
    if (!resumes) at_ = last;
    if (has_middle_ && !ends.empty()) {
      ends = middle_.end(kernel, ends, last);
      at_ = last = middle_.at();
    }
    if (is_first) first_ = last;
    if (ends.empty()) return ends;
    // (The maxima of two kernels differ by about as much with all points.)
    if (!is_first && has_one_search_) ends.push_back(begin + (last - first_));
    if (resumes && starts.size() > 1) ends.push_back(starts.back());
    else if (is_first && (resumes || has_middle_)) ends.push_back(begin);
    return ends;
  }
  // Parameters at which neighbours may be found.
  const VectorXd& at() const { return at_; }

 private:
  const FitProblem& problem_;
  bool alone_, has_one_search_, has_middle_;
  Measurements few_, more_;
  PartClimbs part_, middle_;
  VectorXd at_, first_;  // first_: the best parameters of the first kernel with the larger subset
};

// All models of the average get at least the noise that the core accepts.
void raise_noises(const std::vector<AveragedKernel>& kernels, const MatrixXd& X, ModelAverage& out) {
  const auto raise = [&](Index kernel, VectorXd& parameters) {
    raise_noise(*kernels[static_cast<std::size_t>(kernel)].kernel, X, parameters);
  };
  raise(out.best_kernel, out.best.parameters);
  for (WeighedModel& one : out.models) raise(one.kernel, one.parameters);
}

// The average includes the scale, which is therefore not profiled. With many points it has fewer models.
AverageProblem problem_for(AverageProblem problem, Index points) {
  const bool many = points > kFewPoints;
  problem.fit.single_variance = false;
  problem.fit.resumes = many && problem.fit.resumes;
  if (many) problem.models = (problem.models * kFewPoints + points - 1) / points;
  return problem;
}

}  // namespace

Index most_searches_of_all(Index points, bool resumes) { return resumes || points > kMostExact ? 1 : kMostClimbed; }

ModelAverage average_models(const std::vector<AveragedKernel>& kernels, const Measurements& measurements,
                            bool fit_mean, const AverageProblem& problem, const FitMinimizers& minimizers,
                            Index max_iterations) {
  const Index points = count_points(measurements.X);
  const bool many = points > kFewPoints, all = !many && measurements.X.rows() <= kMostExplored;
  const bool is_quick = measurements.X.rows() <= kQuick;
  const AverageProblem own = problem_for(problem, points);
  std::unique_ptr<SubsetClimbs> subsets;
  if (!all) {
    subsets = std::make_unique<SubsetClimbs>(measurements, fit_mean, own.fit, minimizers.usual, max_iterations, points,
                                             kernels.size());
  }
  Averagers averagers;
  VectorXd first_end;
  Index evaluations = 0;
  double most = -kInf;
  for (const AveragedKernel& one : kernels) {
    const bool is_first = averagers.empty();
    std::vector<VectorXd> starts, ends;
    // (The modes of other kernels are near those of the first kernel.)
    if (!is_first) starts.push_back(first_end);
    for (Index i = 0; i < one.starts.rows(); ++i) starts.push_back(row_of(one.starts, i));
    if (subsets) ends = subsets->ends(*one.kernel, is_first, starts);
    const VectorXd& at = subsets ? subsets->at() : own.fit.start;
    const auto averager_at = [&](const VectorXd& neighbours_at) {
      return std::make_unique<Averager>(likelihood_of_all(*one.kernel, measurements, fit_mean, neighbours_at),
                                        one.log_prior, fit_mean, own, many ? minimizers.of_all : minimizers.usual,
                                        max_iterations, is_quick ? kTolerance : tolerance_of_many(points));
    };
    averagers.push_back(averager_at(at));
    Averager& averager = *averagers.back();
    if (all) {
      if (is_first) averager.local_search(averager.fit().explore());
      averager.local_search(starts, is_quick ? -kInf : most - 2.0 * kHopeless);
    } else if (!ends.empty()) {
      const double reach = kHopeless * std::max(1.0, static_cast<double>(points) / static_cast<double>(kFewPoints));
      const Index count = many ? most_searches_of_all(points, own.fit.resumes) : kMostModes;
      averager.local_search(likeliest(averager.fit(), ends, reach, count));
    }
    // (Far from where they were found, other points are neighbours.)
    const VectorXd found = averager.fit().best().parameters;
    if (points > kMostExact && !ends.empty() && largest_size(found - at) > kFar) {
      evaluations += averager.evaluations();
      averagers.back() = averager_at(found);
      averagers.back()->local_search({found});
    }
    if (is_first) first_end = averagers.back()->fit().best().parameters;
    most = std::max(most, averagers.back()->objective());
  }
  ModelAverage out = average(averagers, draws_in_all(measurements.X.rows(), points, own.models), own.models,
                             many);
  for (const auto& one : averagers) evaluations += one->evaluations();
  raise_noises(kernels, measurements.X, out);
  out.best.evaluations = evaluations;
  out.best.points = points;
  out.best.exact = points <= kMostExact;
  return out;
}

}  // namespace gpb
