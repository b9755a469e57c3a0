// Functions of posterior.h: the interface of a posterior: an engine that conditions on a list of observations and
// predicts at any point. Uses base/ and likelihoods/.
#include "posteriors/posterior.h"

namespace gpb {

VectorXd SampledFunction::at(const Points&) const {
  throw_logic("this draw is defined at the candidates only");
}

double SampledFunction::at(const VectorXd&, VectorXd*) const {
  throw_logic("this draw is defined at the candidates only");
}

MatrixXd CrossCovariance::at(const Points&) const {
  throw_logic("these covariances are defined at the candidates only");
}

VectorXd CrossCovariance::at(const VectorXd&, MatrixXd&) const {
  throw_logic("these covariances are defined at the candidates only");
}

const VectorXd& PriorMean::Shape::last(Kept& kept, const Points& X) {
  if (kept.at.rows() != X.rows() || kept.at.cols() != X.cols() || kept.at != X) {
    kept.at.resize(0, 0);  // the function may throw
    kept.found = kept.f(X);
    kept.at = X;
  }
  return kept.found;
}

PriorMean::PriorMean(VectorXd values, std::shared_ptr<const Shape> shape)
    : values_(std::move(values)), shape_(std::move(shape)) {
  if (values_.size() < 1) throw_invalid("a prior mean needs a number");
  if (all_equal(values_, values_[0])) values_.conservativeResize(1);
}

Index PriorMean::arm_of(double number) const {
  if (values_.size() == 1) return 0;
  const Index arm = static_cast<Index>(std::llround(number));
  if (arm < 0 || arm >= values_.size()) {
    throw_invalid("the prior mean differs by arm, and this point is not an arm");
  }
  return arm;
}

double PriorMean::at(const VectorXd& x) const {
  const double value = of_arm(arm_of(x[x.size() - 1]));
  return shape_ ? value + shape_->values(as_rows(x, 1))[0] : value;
}

VectorXd PriorMean::at(const Points& X) const {
  VectorXd out(X.rows());
  if (values_.size() == 1) {
    out.setConstant(values_[0]);
  } else {
    for (Index i = 0; i < X.rows(); ++i) out[i] = of_arm(arm_of(X(i, X.cols() - 1)));
  }
  if (shape_ && X.rows() > 0) out += shape_->values(X);
  return out;
}

void PriorMean::add_slope(const VectorXd& x, VectorXd& gradient) const {
  if (shape_) gradient += shape_->slope(as_rows(x, 1));
}

// ---- optional interfaces ------------------------------------------------------------------------

namespace {

// The interface, or null.
template <class Interface>
const Interface* as(const Posterior& posterior) {
  return dynamic_cast<const Interface*>(&posterior);
}
template <class Interface>
Interface* as(Posterior& posterior) {
  return dynamic_cast<Interface*>(&posterior);
}

// The interface; throws if the engine lacks it.
template <class Interface, class AnyPosterior>
auto& need(AnyPosterior& posterior, const char* lack) {
  auto* found = as<Interface>(posterior);
  if (!found) throw_invalid("engine \"" + posterior.summary().name + "\" " + lack);
  return *found;
}

constexpr const char* kNoSites = "takes rewards with Gaussian noise only";
constexpr const char* kNoJoint = "has no joint covariance of candidates";

const LocalPosterior& need_local(const Posterior& posterior) {
  const LocalPosterior* found = posterior.as_local();
  if (!found) throw_logic("a table of arms has no gradient");
  return *found;
}

}  // namespace

void Posterior::expect_sites(bool compares, bool modes) {
  need<SitePosterior>(*this, kNoSites).expect_sites(compares, modes);
}

SitePrior Posterior::site_prior(const std::vector<Functional>& functionals, const SiteTerms& terms, bool again) {
  return need<SitePosterior>(*this, kNoSites).site_prior(functionals, terms, again);
}

bool Posterior::set_sites(const std::vector<Functional>& functionals, const SiteFit& fit) {
  return need<SitePosterior>(*this, kNoSites).set_sites(functionals, fit);
}

void Posterior::set_awaited(const std::vector<Functional>& functionals, const SiteFit& fit) {
  need<SitePosterior>(*this, kNoSites).set_awaited(functionals, fit);
}

SiteGap Posterior::site_gap() const {
  const auto* sites = as<SitePosterior>(*this);
  return sites ? sites->site_gap() : SiteGap{};
}

bool Posterior::takes_further_sites() const {
  const auto* sites = as<SitePosterior>(*this);
  return sites && sites->takes_further_sites();
}

Index Posterior::models() const {
  const auto* average = as<AveragePosterior>(*this);
  return average ? average->models() : 1;
}

const Posterior& Posterior::model(Index k) const {
  const auto* average = as<AveragePosterior>(*this);
  return average ? average->model(k) : *this;
}

double Posterior::model_weight(Index k) const {
  const auto* average = as<AveragePosterior>(*this);
  return average ? average->model_weight(k) : 1.0;
}

void Posterior::take_means_of(const Posterior& other) {
  if (auto* average = as<AveragePosterior>(*this)) average->take_means_of(other);
}

VectorXd Posterior::mean_of(const Points& X) const {
  if (const LocalPosterior* own = as_local()) return own->mean_of(X);
  VectorXd mean, ignored;
  predict(X, mean, ignored);
  return mean;
}

double Posterior::mean_of(const VectorXd& x, VectorXd& gradient) const {
  return need_local(*this).mean_of(x, gradient);
}

void Posterior::local(const VectorXd& x, double& mean, double& sd, VectorXd& dmean, VectorXd& dsd) const {
  need_local(*this).local(x, mean, sd, dmean, dsd);
}

bool Posterior::can_sketch() const {
  const LocalPosterior* own = as_local();
  return own && own->can_sketch();
}

void Posterior::sketch(const VectorXd& x, double& mean, double& sd, VectorXd& dmean, VectorXd& dsd) const {
  need_local(*this).sketch(x, mean, sd, dmean, dsd);
}

void Posterior::sketches(const Points& X, VectorXd& mean, VectorXd& variance) const {
  const LocalPosterior* own = as_local();
  if (own) own->sketches(X, mean, variance);
  else predict(X, mean, variance);
}

MatrixXd Posterior::covariance(const Candidates& candidates, const std::vector<Index>& some) const {
  return need<JointPosterior>(*this, kNoJoint).covariance(candidates, some);
}

void Posterior::sample_all(const Posterior& centre, const Candidates& candidates, double scale, Rng& rng,
                           Eigen::Ref<MatrixXd> out) const {
  need<JointPosterior>(*this, kNoJoint).sample_all(centre, candidates, scale, rng, out);
}

std::unique_ptr<CrossCovariance> Posterior::covariances_with(const std::vector<const Point*>& fixed) const {
  return need<CrossPosterior>(*this, kNoJoint).covariances_with(fixed);
}

void Posterior::differences(const Candidates& candidates, const Point& from, VectorXd& mean,
                            VectorXd& variance) const {
  need<ComparingPosterior>(*this, "does not support differences").differences(candidates, from, mean, variance);
}

const LowRankPosterior* Posterior::low_rank() const {
  const auto* approximate = as<ApproximatePosterior>(*this);
  return approximate ? approximate->low_rank() : nullptr;
}

double Posterior::largest_mean_at(const std::vector<const Point*>& points, const std::vector<Index>& slots) const {
  const auto* approximate = as<ApproximatePosterior>(*this);
  return approximate ? approximate->largest_mean_at(points, slots) : means_at(points, slots).maxCoeff();
}

bool Posterior::postpones() const {
  const auto* postponing = as<PostponingPosterior>(*this);
  return postponing && postponing->postpones();
}

}  // namespace gpb
