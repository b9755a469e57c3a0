# Laplace's approximation in plain R, after Rasmussen and Williams (2006), section 3.4.

ref_likelihoods <- list(
  logit = function(k, n) function(f) list(l = k * stats::plogis(f, log.p = TRUE) + (n - k) * stats::plogis(-f, log.p = TRUE),
                                          d1 = k - n * stats::plogis(f), d2 = -n * stats::plogis(f) * stats::plogis(-f)),
  probit = function(k, n) function(f) {
    r <- exp(stats::dnorm(f, log = TRUE) - stats::pnorm(f, log.p = TRUE))
    q <- exp(stats::dnorm(f, log = TRUE) - stats::pnorm(-f, log.p = TRUE))
    list(l = k * stats::pnorm(f, log.p = TRUE) + (n - k) * stats::pnorm(-f, log.p = TRUE),
         d1 = k * r - (n - k) * q, d2 = -k * r * (f + r) - (n - k) * q * (q - f))
  },
  counts = function(k, n) function(f) list(l = stats::dpois(k, n * exp(f), log = TRUE), d1 = k - n * exp(f), d2 = -n * exp(f))
)

# By numbers of each level and differences of the distribution function; derivatives by differences of it.
ref_ordinal <- function(counts, cuts) function(f) {
  cuts <- c(-Inf, cuts, Inf)
  log_p <- function(f) rowSums(counts * vapply(seq_len(ncol(counts)), function(j) {
    log(stats::plogis(cuts[j + 1] - f) - stats::plogis(cuts[j] - f))
  }, f))
  h <- 1e-4
  list(l = log_p(f), d1 = (log_p(f + h) - log_p(f - h)) / (2 * h), d2 = (log_p(f + h) - 2 * log_p(f) + log_p(f - h)) / h^2)
}

# The mode by halved Newton steps in f; H: functionals, a row each.
ref_laplace <- function(K, H, likelihood, m = 0) {
  G <- H %*% K %*% t(H)
  mu <- drop(H %*% rep_len(m, nrow(K)))
  f <- mu
  a <- 0 * f
  objective <- function(f, a) sum(likelihood(f)$l) - sum(a * (f - mu)) / 2
  for (i in 1:200) {
    d <- likelihood(f)
    W <- -d$d2
    r <- W * (f - mu) + d$d1
    full <- r - sqrt(W) * solve(diag(length(f)) + sqrt(W) * t(sqrt(W) * G), sqrt(W) * drop(G %*% r))
    step <- 1
    while (objective(mu + drop(G %*% (a + step * (full - a))), a + step * (full - a)) < objective(f, a) - 1e-9 && step > 1e-8) {
      step <- step / 2
    }
    a <- a + step * (full - a)
    moved <- max(abs(mu + drop(G %*% a) - f))
    f <- mu + drop(G %*% a)
    if (moved < 1e-12) break
  }
  W <- -likelihood(f)$d2
  B <- diag(length(f)) + sqrt(W) * t(sqrt(W) * G)
  V <- sqrt(W) * (H %*% K)
  list(mean = rep_len(m, nrow(K)) + drop(K %*% t(H) %*% a), cov = K - t(V) %*% solve(B, V), f = f, W = W,
       log_z = sum(likelihood(f)$l) - sum(a * (f - mu)) / 2 - c(determinant(B)$modulus) / 2)
}
