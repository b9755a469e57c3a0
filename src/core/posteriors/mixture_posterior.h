// A weighted mixture of several models of one function, each with a separate engine (kernel, noise variance, prior
// mean). It represents the uncertainty about the hyperparameters. Predictions are the two moments of the mixture; the
// models themselves are available by model().
#ifndef GPB_MIXTURE_POSTERIOR_H
#define GPB_MIXTURE_POSTERIOR_H

#include "posteriors/posterior.h"

namespace gpb {

class MixturePosterior final : public Posterior,
                               public AveragePosterior,
                               public LocalPosterior,
                               public JointPosterior,
                               public PostponingPosterior {
 public:
  struct Model {
    std::unique_ptr<Posterior> posterior;
    double weight;  // they sum to 1
  };
  // A reward whose weight expresses a separate noise variance has noise_var over that weight in every model.
  MixturePosterior(std::vector<Model> models, double noise_var);

  void add(const Observation& observation) override;
  void set_value(Index slot, double y) override;
  void set_values(const std::vector<double>& y) override;
  void drop(Index slot) override;
  void rescale(double factor) override;
  void clear() override;
  void advance(Index round) override;
  void asked(bool chosen) override;
  void settle() override;
  bool postpones() const override;

  Index models() const override { return static_cast<Index>(models_.size()); }
  const Posterior& model(Index k) const override { return *models_[index(k)].posterior; }
  double model_weight(Index k) const override { return models_[index(k)].weight; }
  void take_means_of(const Posterior& other) override {
    centre_ = &dynamic_cast<const MixturePosterior&>(other);
  }

  double noise_var() const override { return noise_var_; }
  // Averages over the models, because only one number can be returned.
  double log_det() const override;
  double quadratic() const override;
  // The name of the first model's engine, the largest rank, and twice the largest error bound a of a model. Consider
  // the vector of the weighted sds and of the weighted means minus their average. Its length is the mixture's sd, and
  // each half has an error of at most a times this length.
  EngineSummary summary() const override;
  const LocalPosterior* as_local() const override { return this; }
  void at(const Point& point, double& mean, double& sd) const override;
  Moments moments(const Candidates& candidates) const override;
  void predict(const Points& X, VectorXd& mean, VectorXd& variance) const override;
  VectorXd mean_of(const Points& X) const override;
  double mean_of(const VectorXd& x, VectorXd& gradient) const override;
  void local(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
             VectorXd& dsd) const override;
  bool can_sketch() const override;
  void sketch(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
              VectorXd& dsd) const override;
  void sketches(const Points& X, VectorXd& mean, VectorXd& variance) const override;
  MatrixXd covariance(const Candidates& candidates, const std::vector<Index>& some) const override;
  VectorXd means_at(const std::vector<const Point*>& points,
                    const std::vector<Index>& slots) const override;
  Index best_slot() const override;
  // A draw of one model, chosen by its weight. `scale` multiplies the uncertainty within the models, not the
  // differences between them.
  std::unique_ptr<SampledFunction> sample(const Posterior& centre, const Candidates& candidates,
                                          double scale, Rng& rng) const override;
  void sample_all(const Posterior& centre, const Candidates& candidates, double scale, Rng& rng,
                  Eigen::Ref<MatrixXd> out) const override;

 private:
  static std::size_t index(Index k) { return static_cast<std::size_t>(k); }
  // The posterior that provides the means: each model, or the corresponding model of take_means_of().
  const Posterior& centre(Index k) const { return centre_ ? centre_->model(k) : model(k); }
  Index chosen(Rng& rng) const;
  // The weighted sum of f(number of the model).
  template <class F>
  double average(F f) const {
    double sum = 0.0;
    for (Index k = 0; k < models(); ++k) sum += model_weight(k) * f(k);
    return sum;
  }
  // From the models' means and variances, a row per model.
  void mix(const MatrixXd& means, const MatrixXd& variances, VectorXd& mean,
           VectorXd& variance) const;
  using Predict = void (Posterior::*)(const Points&, VectorXd&, VectorXd&) const;
  void predict_by(Predict predict, const Points& X, VectorXd& mean, VectorXd& variance) const;
  using Local = void (Posterior::*)(const VectorXd&, double&, double&, VectorXd&, VectorXd&) const;
  void local_by(Local local, const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                VectorXd& dsd) const;

  std::vector<Model> models_;
  double noise_var_;
  const MixturePosterior* centre_ = nullptr;
  std::vector<Point> points_;  // by slot
  std::vector<char> kept_;
  mutable VectorXd mean_, variance_;  // of the candidates used last
};

}  // namespace gpb

#endif
