// A kernel that checks for interrupts while it is evaluated. Uses base/ and kernels/kernel.h.
#ifndef GPB_INTERRUPTIBLE_H
#define GPB_INTERRUPTIBLE_H

#include "kernels/kernel.h"

#include <chrono>

namespace gpb {

// A kernel that checks for interrupts between its rows. All long computations of the core evaluate kernel rows.
class Interruptible : public Kernel {
 public:
  using Pause = void (*)();
  Interruptible(std::unique_ptr<Kernel> kernel, Pause when)
      : kernel_(std::move(kernel)), pause_(when) {}
  void cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const override {
    pause(Y.rows());
    kernel_->cross(x, Y, out);
  }
  void diagonal(const Points& X, Eigen::Ref<VectorXd> out) const override {
    kernel_->diagonal(X, out);
  }
  void input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const override {
    pause(Y.rows());
    kernel_->input_gradient(x, Y, out);
  }
  Index parameter_count() const override { return kernel_->parameter_count(); }
  VectorXd log_parameters() const override { return kernel_->log_parameters(); }
  void set_log_parameters(const VectorXd& theta) override { kernel_->set_log_parameters(theta); }
  VectorXd parameter_gradient(const Points& X, const MatrixXd& W) const override {
    pause(X.rows() * X.rows());
    return kernel_->parameter_gradient(X, W);
  }
  void draw_feature(Rng& rng, Feature& feature) const override {
    kernel_->draw_feature(rng, feature);
  }
  PriorPath draw_prior_path(Rng& rng, Index inputs, Index features) const override {
    return kernel_->draw_prior_path(rng, inputs, features);
  }
  std::unique_ptr<Kernel> clone() const override {
    return std::make_unique<Interruptible>(kernel_->clone(), pause_);
  }
  const Kernel& inner() const { return *kernel_; }

 private:
  using Clock = std::chrono::steady_clock;

  // Reads the clock every few thousand values, and checks for interrupts every 50 ms.
  void pause(Index values) const {
    values_ += values;
    if (values_ < 4096) return;
    values_ = 0;
    const Clock::time_point now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    pause_();
  }

  std::unique_ptr<Kernel> kernel_;
  Pause pause_;
  mutable Index values_ = 0;
  mutable Clock::time_point last_ = Clock::now();
};

}  // namespace gpb

#endif
