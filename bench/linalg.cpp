// The hand-written loops of src/core/linalg against Eigen and BLAS; called by bench/linalg.R.
#include <Eigen/Cholesky>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>

#include <R_ext/BLAS.h>
#include <R_ext/Lapack.h>

#include "linalg/elementwise.h"
#include "linalg/growing_cholesky.h"
#include "linalg/pruned_argmax.h"
#include "linalg/sweeps.h"
#include "linalg/symmetric_sweep.h"

#ifndef FCONE
#define FCONE
#endif

using namespace gpb;

namespace {

using Call = std::function<void()>;
struct Case {
  Call ours, eigen, blas;  // no `blas` where it has no such function
};

const int kOne = 1;
const double kPlus = 1.0, kMinus = -1.0, kZero = 0.0;

double spent(const Call& call, int times) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (int i = 0; i < times; ++i) call();
  return std::chrono::duration<double>(Clock::now() - start).count() / times;
}

// Seconds per call: the least of many batches, which take turns so that all see the same machine.
void measure(const Case& c, double* out) {
  const Call calls[] = {c.ours, c.eigen, c.blas};
  int times[3];
  for (int k = 0; k < 3; ++k) {
    out[k] = c.blas || k < 2 ? kInf : kNaN;
    times[k] = 1;
    while (calls[k] && spent(calls[k], times[k]) * times[k] < 5e-4) times[k] *= 2;
  }
  for (int batch = 0; batch < 60; ++batch) {
    for (int k = 0; k < 3; ++k) {
      if (calls[k]) out[k] = std::min(out[k], spent(calls[k], times[k]));
    }
  }
}

// One observation over n arms: c = base + F w, then mean and variance.
struct Arms {
  Arms(int rows, int columns)
      : n(rows), r(columns), F(MatrixXd::Random(n, r)), w(VectorXd::Random(r)),
        base(VectorXd::Random(n)), mean(VectorXd::Random(n)),
        variance(VectorXd::Constant(n, 1e9)), c(n), scratch(upper_bound_scratch(n)) {}
  int n, r;
  MatrixXd F;
  VectorXd w, base, mean, variance, c, scratch;

  void gemv(const double* from_base, double scale) {
    if (from_base) c = base;
    const double beta = from_base ? 1.0 : 0.0;
    F77_CALL(dgemv)("N", &n, &r, &scale, F.data(), &n, w.data(), &kOne, &beta, c.data(),
                    &kOne FCONE);
  }
  void learn(double step) {
    mean += c * step;
    variance = (variance - c.cwiseAbs2() * step).cwiseMax(0.0);
  }
};

Case rank_one(const std::shared_ptr<Arms>& a) {
  return {[a] {
            rank_one_sweep(a->F.data(), a->n, a->n, a->r, a->w.data(), 1e-9, 1e-9, a->mean.data(),
                           a->variance.data());
          },
          [a] { a->c.noalias() = a->F * a->w; a->learn(1e-9); },
          [a] { a->gemv(nullptr, 1.0); a->learn(1e-9); }};
}

Case append(const std::shared_ptr<Arms>& a) {
  return {[a] {
            append_sweep(a->F.data(), a->n, a->n, a->r, a->w.data(), a->base.data(), 1.0, 1e-9,
                         a->c.data(), a->mean.data(), a->variance.data());
          },
          [a] { a->c = a->base; a->c.noalias() -= a->F * a->w; a->learn(1e-9); },
          [a] { a->gemv(a->base.data(), -1.0); a->learn(1e-9); }};
}

Case product(const std::shared_ptr<Arms>& a) {
  return {[a] {
            product_sweep(a->F.data(), a->n, a->n, a->r, a->w.data(), 0.5, a->base.data(),
                          a->c.data());
          },
          [a] { a->c = a->base; a->c.noalias() += a->F * (0.5 * a->w); },
          [a] { a->gemv(a->base.data(), 0.5); }};
}

Case outer(const std::shared_ptr<Arms>& a) {
  a->w *= 1e-9;
  return {[a] { subtract_outer(a->F.data(), a->n, a->r, a->base.data(), a->w.data()); },
          [a] { a->F.noalias() -= a->base * a->w.transpose(); },
          [a] {
            F77_CALL(dger)(&a->n, &a->r, &kMinus, a->base.data(), &kOne, a->w.data(), &kOne,
                           a->F.data(), &a->n);
          }};
}

Case argmax(const std::shared_ptr<Arms>& a) {
  // A posterior mean and variance are smooth over neighbouring arms.
  const Eigen::ArrayXd x = Eigen::ArrayXd::LinSpaced(a->n, 0.0, 12.0);
  a->mean = x.sin();
  a->variance = 0.01 * (1.1 + (7.0 * x).cos());
  return {[a] {
            a->c[0] = static_cast<double>(first_upper_bound(
                a->mean.data(), a->variance.data(), a->n, 2.0, 1e-9, a->scratch.data()));
          },
          [a] {
            a->scratch.head(a->n) = a->mean + 2.0 * a->variance.cwiseSqrt();
            const double least = a->scratch.head(a->n).maxCoeff() - 1e-9;
            Index j = 0;
            while (a->scratch[j] < least) ++j;
            a->c[0] = static_cast<double>(j);
          },
          nullptr};
}

// A packed factor of t points and right-hand sides for n more.
struct Solve {
  Solve(int points, int others) : t(points), n(others), V(others), B(MatrixXd::Random(t, n)),
        x(VectorXd::Random(t)), sum(VectorXd::Zero(n + 8)), squares(sum) {
    const MatrixXd A = MatrixXd::Random(t, t);
    for (int i = 0; i < t; ++i) {
      const VectorXd cross = 0.1 * A.col(i) / t;
      factor.append(cross.data(), 1.0, 1.0);
    }
    L = MatrixXd::Zero(t, t);
    for (int i = 0; i < t; ++i) {
      for (int j = 0; j <= i; ++j) L(i, j) = factor.row(i)[j];
    }
    V.reserve(t, 0);
    fill(0);
  }
  void fill(int from) {
    VectorXd row(n);
    for (int i = from; i < t; ++i) {
      row = B.row(i);
      V.set_row(i, row.data());
    }
  }
  int t, n;
  GrowingCholesky factor;
  MatrixXd L;
  Panels V;
  MatrixXd B;
  VectorXd x, sum, squares;
};

Case solve_panels(const std::shared_ptr<Solve>& s) {
  return {[s] { forward_solve(s->factor.packed(), 0, s->t, s->V); },
          [s] { s->L.triangularView<Eigen::Lower>().solveInPlace(s->B); },
          [s] {
            F77_CALL(dtrsm)("L", "L", "N", "N", &s->t, &s->n, &kPlus, s->L.data(), &s->t,
                            s->B.data(), &s->t FCONE FCONE FCONE FCONE);
          }};
}

// One row more: b' - l' V, over l_tt. Eigen and BLAS keep V by columns.
Case append_row(const std::shared_ptr<Solve>& s) {
  return {[s] { forward_solve(s->factor.packed(), s->t - 1, s->t, s->V); },
          [s] {
            const Index m = s->t - 1;
            VectorXd row = s->B.row(m);
            row.noalias() -= s->B.topRows(m).transpose() * s->L.row(m).head(m).transpose();
            s->B.row(m) = row / s->L(m, m);
          },
          [s] {
            const int m = s->t - 1;
            F77_CALL(dgemv)("T", &m, &s->n, &kMinus, s->B.data(), &s->t, s->L.data() + m, &s->t,
                            &kPlus, s->B.data() + m, &s->t FCONE);
            s->B.row(m) /= s->L(m, m);
          }};
}

Case accumulate(const std::shared_ptr<Solve>& s) {
  return {[s] { accumulate_rows(s->V, 0, s->t, s->x.data(), s->sum.data(), s->squares.data()); },
          [s] {
            s->sum.head(s->n).noalias() += s->B.transpose() * s->x;
            s->squares.head(s->n) += s->B.colwise().squaredNorm().transpose();
          },
          [s] {
            F77_CALL(dgemv)("T", &s->t, &s->n, &kPlus, s->B.data(), &s->t, s->x.data(), &kOne,
                            &kPlus, s->sum.data(), &kOne FCONE);
            for (int j = 0; j < s->n; ++j) {
              s->squares[j] += F77_CALL(ddot)(&s->t, s->B.col(j).data(), &kOne,
                                              s->B.col(j).data(), &kOne);
            }
          }};
}

Case one_solve(const std::shared_ptr<Solve>& s, bool forward) {
  const char* transposed = forward ? "N" : "T";
  return {[s, forward] { forward ? s->factor.forward(s->x) : s->factor.backward(s->x); },
          [s, forward] {
            if (forward) s->L.triangularView<Eigen::Lower>().solveInPlace(s->x);
            else s->L.transpose().triangularView<Eigen::Upper>().solveInPlace(s->x);
          },
          [s, transposed] {
            F77_CALL(dtrsv)("L", transposed, "N", &s->t, s->L.data(), &s->t, s->x.data(),
                            &kOne FCONE FCONE FCONE);
          }};
}

Case inverse(int n) {
  const MatrixXd R = MatrixXd::Random(n, n);
  const auto A = std::make_shared<MatrixXd>(R * R.transpose() + n * MatrixXd::Identity(n, n));
  const auto out = std::make_shared<MatrixXd>(n, n);
  return {[=] {
            SymmetricSweep sweep(n, 0);
            for (Index j = 0; j < n; ++j) sweep.lower_column(j) = A->col(j).tail(n - j);
            sweep.run(1.0, true);
          },
          [=] { *out = Eigen::LLT<MatrixXd>(*A).solve(MatrixXd::Identity(n, n)); },
          [=] {
            int info, order = n;
            *out = *A;
            F77_CALL(dpotrf)("L", &order, out->data(), &order, &info FCONE);
            F77_CALL(dpotri)("L", &order, out->data(), &order, &info FCONE);
          }};
}

// Of n points from another in r inputs: the distances, and their Matern correlation of order 5/2 with its slope.
struct Distances {
  Distances(int points, int inputs)
      : n(points), r(inputs), Y(MatrixXd::Random(n, r)), x(VectorXd::Random(r)), inverse(VectorXd::Ones(r)),
        s(Eigen::ArrayXd::Random(n).abs() * 9.0), t(n), slope(n) {
    for (int c = 0; c < r; ++c) columns.push_back(Y.col(c).data());
  }
  int n, r;
  MatrixXd Y;
  VectorXd x, inverse;
  Eigen::ArrayXd s, t, slope;
  std::vector<const double*> columns;
};

Case distances(const std::shared_ptr<Distances>& a) {
  return {[a] {
            a->t.setZero();
            add_squared_distances(a->columns.data(), a->x.data(), a->inverse.data(), a->r, 1e300, a->n, a->t.data());
          },
          [a] {
            a->t.setZero();
            for (int c = 0; c < a->r; ++c) a->t += ((a->Y.col(c).array() - a->x[c]) * a->inverse[c]).square();
            a->t = a->t.min(1e300);
          },
          nullptr};
}

Case matern(const std::shared_ptr<Distances>& a) {
  return {[a] {
            a->t = a->s;
            matern_correlations(5, a->n, a->t.data(), a->slope.data());
          },
          [a] {
            a->t = std::sqrt(5.0) * a->s.sqrt();
            a->slope = (-a->t).exp();
            for (int j = 0; j < a->n; ++j) {
              const double r = a->t[j], e = a->slope[j];
              a->t[j] = (1.0 + r + r * r / 3.0) * e;
              a->slope[j] = -(5.0 / 6.0) * (1.0 + r) * e;
            }
          },
          nullptr};
}

Case waves(const std::shared_ptr<Distances>& a) {
  return {[a] { a->t = a->s; cosines(a->n, a->t.data()); }, [a] { a->t = a->s.cos(); }, nullptr};
}

// ---- deleted from the package: it lost ---------------------------------------

// v = M'x and gain = M v in one pass over an r x r matrix.
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("O3")))
#endif
void one_pass_gain(const MatrixXd& M, const VectorXd& x, VectorXd& v, VectorXd& gain) {
  constexpr Index lanes = 8;
  const Index r = M.rows();
  gain.setZero();
  for (Index q = 0; q < r; ++q) {
    const double* column = M.data() + q * r;
    double sum[lanes] = {0.0}, total = 0.0;
    Index j = 0;
    for (; j + lanes <= r; j += lanes) {
      for (Index k = 0; k < lanes; ++k) sum[k] += column[j + k] * x[j + k];
    }
    for (Index k = 0; k < lanes; ++k) total += sum[k];
    for (; j < r; ++j) total += column[j] * x[j];
    v[q] = total;
    for (j = 0; j < r; ++j) gain[j] += column[j] * total;
  }
}

Case potter(const std::shared_ptr<Arms>& a) {
  const auto v = std::make_shared<VectorXd>(a->r);
  return {[=] { one_pass_gain(a->F, a->w, *v, a->c); },
          [=] { v->noalias() = a->F.transpose() * a->w; a->c.noalias() = a->F * *v; },
          [=] {
            F77_CALL(dgemv)("T", &a->n, &a->r, &kPlus, a->F.data(), &a->n, a->w.data(), &kOne,
                            &kZero, v->data(), &kOne FCONE);
            F77_CALL(dgemv)("N", &a->n, &a->r, &kPlus, a->F.data(), &a->n, v->data(), &kOne,
                            &kZero, a->c.data(), &kOne FCONE);
          }};
}

Case find(const std::string& name, int n, int r) {
  if (name == "rank_one_sweep") return rank_one(std::make_shared<Arms>(n, r));
  if (name == "append_sweep") return append(std::make_shared<Arms>(n, r));
  if (name == "product_sweep") return product(std::make_shared<Arms>(n, r));
  if (name == "subtract_outer") return outer(std::make_shared<Arms>(n, r));
  if (name == "first_upper_bound") return argmax(std::make_shared<Arms>(n, 1));
  if (name == "potter_gain") return potter(std::make_shared<Arms>(r, r));
  if (name == "squared distances") return distances(std::make_shared<Distances>(n, r));
  if (name == "matern_correlations") return matern(std::make_shared<Distances>(n, 1));
  if (name == "cosines") return waves(std::make_shared<Distances>(n, 1));
  if (name == "symmetric_sweep") return inverse(r);
  const auto solve = std::make_shared<Solve>(r, n);
  if (name == "panels, all rows") return solve_panels(solve);
  if (name == "panels, one row") return append_row(solve);
  if (name == "accumulate_rows") return accumulate(solve);
  return one_solve(solve, name == "growing forward");
}

}  // namespace

// Seconds per call of the hand-written loop, Eigen and BLAS (NaN where it has none).
extern "C" void bench_linalg(char** name, int* n, int* r, double* out) {
  measure(find(name[0], *n, *r), out);
}
