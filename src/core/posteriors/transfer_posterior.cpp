// Functions of transfer_posterior.h: a posterior with data of earlier campaigns: an engine over the inputs and, as the
// last input, the campaign's number.
#include "posteriors/transfer_posterior.h"

namespace gpb {

namespace {

VectorXd in_this_campaign(const VectorXd& x) {
  return joined(x, 0.0);
}

Points in_this_campaign(const Points& X) {
  Points out(X.rows(), X.cols() + 1);
  out.leftCols(X.cols()) = X;
  out.col(X.cols()).setZero();
  return out;
}

// A draw from the engine, evaluated without the campaign's number.
class TransferDraw final : public SampledFunction {
 public:
  TransferDraw(std::unique_ptr<SampledFunction> drawn, const TransferPosterior& of)
      : drawn_(std::move(drawn)), of_(of) {}
  void values(const Candidates& candidates, VectorXd& out) const override {
    drawn_->values(of_.of_engine(candidates), out);
  }
  VectorXd at(const Points& X) const override { return drawn_->at(in_this_campaign(X)); }
  double at(const VectorXd& x, VectorXd* gradient) const override {
    const double value = drawn_->at(in_this_campaign(x), gradient);
    if (gradient) gradient->conservativeResize(x.size());
    return value;
  }

 private:
  std::unique_ptr<SampledFunction> drawn_;
  const TransferPosterior& of_;
};

// The engine's covariances, evaluated without the campaign's number.
class TransferCovariance final : public CrossCovariance {
 public:
  TransferCovariance(std::unique_ptr<CrossCovariance> inner, const TransferPosterior& of)
      : inner_(std::move(inner)), of_(of) {}
  MatrixXd among_fixed() const override { return inner_->among_fixed(); }
  MatrixXd of(const Candidates& candidates) const override { return inner_->of(of_.of_engine(candidates)); }
  MatrixXd at(const Points& X) const override { return inner_->at(in_this_campaign(X)); }
  VectorXd at(const VectorXd& x, MatrixXd& gradient) const override {
    VectorXd out = inner_->at(in_this_campaign(x), gradient);
    gradient.conservativeResize(gradient.rows(), x.size());
    return out;
  }

 private:
  std::unique_ptr<CrossCovariance> inner_;
  const TransferPosterior& of_;
};

const TransferPosterior& transfer_posterior(const Posterior& posterior) {
  return static_cast<const TransferPosterior&>(posterior);
}

}  // namespace

TransferPosterior::TransferPosterior(std::unique_ptr<OpenPosterior> engine, double prior_mean,
                                   TransferRowsPtr rows, std::shared_ptr<const Points> table)
    : engine_(std::move(engine)),
      prior_mean_(prior_mean),
      rows_(std::move(rows)),
      table_(std::move(table)),
      first_(rows_->values.size()) {
  learn_rows();
}

// ---- updates by observations ------------------------------------------------------------------

void TransferPosterior::learn_rows() {
  for (Index i = 0; i < first_; ++i) {
    Observation one;
    one.point = Point::point(row_of(rows_->inputs, i));
    one.value = prior_mean_ + rows_->values[i];
    one.weight = engine_->noise_var() / rows_->noise_var[i];
    one.owns_noise = true;
    engine_->add(one);
  }
  log_det_before_ = engine_->log_det();
  quadratic_before_ = engine_->quadratic();
}

void TransferPosterior::add(const Observation& observation) {
  Observation one = observation;
  one.point = of_engine(observation.point);
  points_.push_back(one.point);
  kept_.push_back(1);
  engine_->add(one);
}

void TransferPosterior::set_values(const std::vector<double>& y) {
  std::vector<double> all(static_cast<std::size_t>(first_));
  for (Index i = 0; i < first_; ++i) all[static_cast<std::size_t>(i)] = prior_mean_ + rows_->values[i];
  all.insert(all.end(), y.begin(), y.end());
  engine_->set_values(all);
}

void TransferPosterior::drop(Index slot) {
  kept_[static_cast<std::size_t>(slot)] = 0;
  engine_->drop(slot + first_);
}

void TransferPosterior::clear() {
  points_.clear();
  kept_.clear();
  engine_->clear();
  learn_rows();
}

// ---- conversion to the engine's points ----------------------------------------------------------

Point TransferPosterior::of_engine(const Point& point) const {
  if (point.kind != Point::Kind::tabled) return Point::point(in_this_campaign(point.x));
  return Point::point(in_this_campaign(row_of(*table_, point.row)));
}

const Candidates& TransferPosterior::of_engine(const Candidates& candidates) const {
  if (candidates.token && asked_ == candidates.token) return candidates_;
  candidates_ = candidates;
  if (candidates.tabled()) {
    candidates_.X = in_this_campaign(Points(table_->middleRows(candidates.first, candidates.count)));
  } else {
    candidates_.X = in_this_campaign(candidates.X);
  }
  asked_ = candidates.token;
  return candidates_;
}

// ---- predictions --------------------------------------------------------------------------------

void TransferPosterior::at(const Point& point, double& mean, double& sd) const {
  engine_->at(of_engine(point), mean, sd);
}

Moments TransferPosterior::moments(const Candidates& candidates) const {
  return engine_->moments(of_engine(candidates));
}

void TransferPosterior::predict(const Points& X, VectorXd& mean, VectorXd& variance) const {
  engine_->predict(in_this_campaign(X), mean, variance);
}

VectorXd TransferPosterior::mean_of(const Points& X) const {
  return engine_->mean_of(in_this_campaign(X));
}

double TransferPosterior::mean_of(const VectorXd& x, VectorXd& gradient) const {
  const double mean = engine_->mean_of(in_this_campaign(x), gradient);
  gradient.conservativeResize(x.size());
  return mean;
}

void TransferPosterior::local(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                             VectorXd& dsd) const {
  engine_->local(in_this_campaign(x), mean, sd, dmean, dsd);
  dmean.conservativeResize(x.size());
  dsd.conservativeResize(x.size());
}

void TransferPosterior::sketch(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                              VectorXd& dsd) const {
  engine_->sketch(in_this_campaign(x), mean, sd, dmean, dsd);
  dmean.conservativeResize(x.size());
  dsd.conservativeResize(x.size());
}

void TransferPosterior::sketches(const Points& X, VectorXd& mean, VectorXd& variance) const {
  engine_->sketches(in_this_campaign(X), mean, variance);
}

MatrixXd TransferPosterior::covariance(const Candidates& candidates,
                                      const std::vector<Index>& some) const {
  return engine_->covariance(of_engine(candidates), some);
}

std::unique_ptr<CrossCovariance> TransferPosterior::covariances_with(const std::vector<const Point*>& fixed) const {
  std::vector<Point> own;
  for (const Point* point : fixed) own.push_back(of_engine(*point));
  std::vector<const Point*> pointers;
  for (const Point& point : own) pointers.push_back(&point);
  return std::make_unique<TransferCovariance>(engine_->covariances_with(pointers), *this);
}

void TransferPosterior::differences(const Candidates& candidates, const Point& from, VectorXd& mean,
                                   VectorXd& variance) const {
  engine_->differences(of_engine(candidates), of_engine(from), mean, variance);
}

VectorXd TransferPosterior::means_at(const std::vector<const Point*>& points,
                                    const std::vector<Index>& slots) const {
  std::vector<Point> own;
  for (const Point* point : points) own.push_back(of_engine(*point));
  std::vector<const Point*> pointers;
  for (const Point& point : own) pointers.push_back(&point);
  std::vector<Index> own_slots = slots;
  for (Index& slot : own_slots) {
    if (slot >= 0) slot += first_;
  }
  return engine_->means_at(pointers, own_slots);
}

Index TransferPosterior::best_slot() const {
  std::vector<const Point*> points;
  std::vector<Index> slots;
  for (std::size_t slot = 0; slot < points_.size(); ++slot) {
    if (!kept_[slot]) continue;
    points.push_back(&points_[slot]);
    slots.push_back(static_cast<Index>(slot) + first_);
  }
  if (points.empty()) return -1;
  Index best;
  engine_->means_at(points, slots).maxCoeff(&best);
  return slots[static_cast<std::size_t>(best)] - first_;
}

// ---- draws --------------------------------------------------------------------------------------

std::unique_ptr<SampledFunction> TransferPosterior::sample(const Posterior& centre,
                                                          const Candidates& candidates,
                                                          double scale, Rng& rng) const {
  const TransferPosterior& other = transfer_posterior(centre);
  return std::make_unique<TransferDraw>(
      engine_->sample(*other.engine_, of_engine(candidates), scale, rng), *this);
}

void TransferPosterior::sample_all(const Posterior& centre, const Candidates& candidates,
                                  double scale, Rng& rng, Eigen::Ref<MatrixXd> out) const {
  engine_->sample_all(*transfer_posterior(centre).engine_, of_engine(candidates), scale, rng, out);
}

}  // namespace gpb
