// Decision sets whose inputs are not all known beforehand: finitely many arms in
// contexts that come as they like, and boxes. Both are served by dense models.
#ifndef GPB_OPEN_SPACE_H
#define GPB_OPEN_SPACE_H

#include "posteriors/dense_model.h"
#include "spaces/space.h"

namespace gpb {

// What both share: the kernel, its scale, and the incumbent of EI and PI.
class OpenSpace : public Space {
 public:
  explicit OpenSpace(KernelPtr kernel) : kernel_(std::move(kernel)) {}
  std::unique_ptr<Model> make_model(double noise_var,
                                    const Forgetting& forgetting) const override;
  double prior_scale() const override { return prior_scale_; }
  const Kernel& kernel() const { return *kernel_; }

 protected:
  // Largest posterior mean over the places whose entries first .. first + count - 1
  // equal the context; -Inf if there are none.
  double best_mean(const DenseModel& mean, const std::vector<Place>& played,
                   const Context& context, Index first) const;

  KernelPtr kernel_;
  double prior_scale_ = 1.0;
};

// Arms in contexts that are only known when they come. Places: arm, context, arm's number.
class OpenArmSpace : public OpenSpace {
 public:
  // arms: one row per arm, without context and number.
  OpenArmSpace(KernelPtr kernel, MatrixXd arms, Index contexts, VectorXd prior_mean);
  Place choose(const Acquisition& a, const Models& models, const Context& context,
               Rng& rng) override;
  Place uniform(const Context& context, Rng& rng) const override;
  double incumbent(const Model& mean, const std::vector<Place>& played,
                   const Context& context) override;
  double arms() const override { return static_cast<double>(arms_.rows()); }
  std::string engine() const override { return "dense"; }
  double prior_mean(const Place& place) const override { return prior_mean_[place.arm]; }

 private:
  Points candidates(const Context& context) const;
  Place place_of(Index arm, const Context& context) const;

  MatrixXd arms_;
  Index contexts_;
  VectorXd prior_mean_;
  VectorXd scratch_;
};

}  // namespace gpb

#endif
