#include "posteriors/related_posterior.h"

namespace gpb {

namespace {

VectorXd in_this_campaign(const VectorXd& x) {
  VectorXd out(x.size() + 1);
  out << x, 0.0;
  return out;
}

Points in_this_campaign(const Points& X) {
  Points out(X.rows(), X.cols() + 1);
  out.leftCols(X.cols()) = X;
  out.col(X.cols()).setZero();
  return out;
}

// A draw of the engine's, asked for without the campaign's number.
class RelatedDraw final : public SampledFunction {
 public:
  RelatedDraw(std::unique_ptr<SampledFunction> drawn, const RelatedPosterior& of)
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
  const RelatedPosterior& of_;
};

const RelatedPosterior& related(const Posterior& posterior) {
  return static_cast<const RelatedPosterior&>(posterior);
}

}  // namespace

RelatedPosterior::RelatedPosterior(std::unique_ptr<OpenPosterior> engine, double prior_mean,
                                   RelatedRowsPtr rows, std::shared_ptr<const Points> table)
    : engine_(std::move(engine)),
      prior_mean_(prior_mean),
      rows_(std::move(rows)),
      table_(std::move(table)),
      first_(rows_->values.size()) {
  learn_rows();
}

// ---- following the observations -----------------------------------------------------------------

void RelatedPosterior::learn_rows() {
  for (Index i = 0; i < first_; ++i) {
    Observation one;
    one.place = Place::point(rows_->inputs.row(i).transpose());
    one.value = prior_mean_ + rows_->values[i];
    one.weight = engine_->noise_var() / rows_->noise_var[i];
    one.owns_noise = true;
    engine_->add(one);
  }
  log_det_before_ = engine_->log_det();
  quadratic_before_ = engine_->quadratic();
}

void RelatedPosterior::add(const Observation& observation) {
  Observation one = observation;
  one.place = of_engine(observation.place);
  places_.push_back(one.place);
  kept_.push_back(1);
  engine_->add(one);
}

void RelatedPosterior::set_values(const std::vector<double>& y) {
  std::vector<double> all(static_cast<std::size_t>(first_));
  for (Index i = 0; i < first_; ++i) all[static_cast<std::size_t>(i)] = prior_mean_ + rows_->values[i];
  all.insert(all.end(), y.begin(), y.end());
  engine_->set_values(all);
}

void RelatedPosterior::drop(Index slot) {
  kept_[static_cast<std::size_t>(slot)] = 0;
  engine_->drop(slot + first_);
}

void RelatedPosterior::clear() {
  places_.clear();
  kept_.clear();
  engine_->clear();
  learn_rows();
}

// ---- as the engine has it -----------------------------------------------------------------------

Place RelatedPosterior::of_engine(const Place& place) const {
  if (place.kind != Place::Kind::tabled) return Place::point(in_this_campaign(place.x));
  return Place::point(in_this_campaign(VectorXd(table_->row(place.row).transpose())));
}

const Candidates& RelatedPosterior::of_engine(const Candidates& candidates) const {
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

// ---- what it says -------------------------------------------------------------------------------

void RelatedPosterior::at(const Place& place, double& mean, double& sd) const {
  engine_->at(of_engine(place), mean, sd);
}

Moments RelatedPosterior::moments(const Candidates& candidates) const {
  return engine_->moments(of_engine(candidates));
}

void RelatedPosterior::predict(const Points& X, VectorXd& mean, VectorXd& variance) const {
  engine_->predict(in_this_campaign(X), mean, variance);
}

VectorXd RelatedPosterior::mean_of(const Points& X) const {
  return engine_->mean_of(in_this_campaign(X));
}

double RelatedPosterior::mean_of(const VectorXd& x, VectorXd& gradient) const {
  const double mean = engine_->mean_of(in_this_campaign(x), gradient);
  gradient.conservativeResize(x.size());
  return mean;
}

void RelatedPosterior::local(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                             VectorXd& dsd) const {
  engine_->local(in_this_campaign(x), mean, sd, dmean, dsd);
  dmean.conservativeResize(x.size());
  dsd.conservativeResize(x.size());
}

void RelatedPosterior::sketch(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                              VectorXd& dsd) const {
  engine_->sketch(in_this_campaign(x), mean, sd, dmean, dsd);
  dmean.conservativeResize(x.size());
  dsd.conservativeResize(x.size());
}

void RelatedPosterior::sketches(const Points& X, VectorXd& mean, VectorXd& variance) const {
  engine_->sketches(in_this_campaign(X), mean, variance);
}

MatrixXd RelatedPosterior::covariance(const Candidates& candidates,
                                      const std::vector<Index>& some) const {
  return engine_->covariance(of_engine(candidates), some);
}

void RelatedPosterior::differences(const Candidates& candidates, const Place& from, VectorXd& mean,
                                   VectorXd& variance) const {
  engine_->differences(of_engine(candidates), of_engine(from), mean, variance);
}

VectorXd RelatedPosterior::means_at(const std::vector<const Place*>& places,
                                    const std::vector<Index>& slots) const {
  std::vector<Place> own;
  for (const Place* place : places) own.push_back(of_engine(*place));
  std::vector<const Place*> pointers;
  for (const Place& place : own) pointers.push_back(&place);
  std::vector<Index> own_slots = slots;
  for (Index& slot : own_slots) {
    if (slot >= 0) slot += first_;
  }
  return engine_->means_at(pointers, own_slots);
}

Index RelatedPosterior::best_slot() const {
  std::vector<const Place*> places;
  std::vector<Index> slots;
  for (std::size_t slot = 0; slot < places_.size(); ++slot) {
    if (!kept_[slot]) continue;
    places.push_back(&places_[slot]);
    slots.push_back(static_cast<Index>(slot) + first_);
  }
  if (places.empty()) return -1;
  Index best;
  engine_->means_at(places, slots).maxCoeff(&best);
  return slots[static_cast<std::size_t>(best)] - first_;
}

// ---- draws --------------------------------------------------------------------------------------

std::unique_ptr<SampledFunction> RelatedPosterior::sample(const Posterior& centre,
                                                          const Candidates& candidates,
                                                          double scale, Rng& rng) const {
  const RelatedPosterior& other = related(centre);
  return std::make_unique<RelatedDraw>(
      engine_->sample(*other.engine_, of_engine(candidates), scale, rng), *this);
}

void RelatedPosterior::sample_all(const Posterior& centre, const Candidates& candidates,
                                  double scale, Rng& rng, Eigen::Ref<MatrixXd> out) const {
  engine_->sample_all(*related(centre).engine_, of_engine(candidates), scale, rng, out);
}

}  // namespace gpb
