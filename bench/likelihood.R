# Rewards as they are: a round on 5,307 arms with 60 features, Laplace's fit beside gplite's, and noise
# that differs on mcycle beside hetGP's.
#   Rscript bench/likelihood.R      (in the repository, gpbandits installed)
# Prints tables and writes bench/results/likelihood.md. Processor time throughout.
suppressMessages(library(gpbandits))

source("bench/shared/script.R")
has <- function(package) requireNamespace(package, quietly = TRUE)
ucb <- policy_ucb(width_constant(2))

# ---- 1. a site round --------------------------------------------------------------
set.seed(1)
arms <- matrix(rnorm(5307 * 60) / sqrt(60), 5307)

# One round in plain R: Newton's steps in the features from a cold start, mean and sd of all arms.
plain_round <- function(arm, reward) {
  phi <- arms[arm, ]
  w <- numeric(60)
  for (step in 1:100) {
    f <- drop(phi %*% w)
    W <- stats::dlogis(f)
    R <- chol(crossprod(phi * sqrt(W)) + diag(60))
    new <- backsolve(R, backsolve(R, crossprod(phi, W * f + reward - stats::plogis(f)), transpose = TRUE))
    done <- max(abs(phi %*% (new - w))) < 1e-10
    w <- drop(new)
    if (done) break
  }
  R <- chol(crossprod(phi * sqrt(stats::dlogis(drop(phi %*% w)))) + diag(60))
  which.max(drop(arms %*% w) + 2 * sqrt(colSums(backsolve(R, t(arms), transpose = TRUE)^2)))
}

site_round <- function(reported) {
  set.seed(2)
  first <- sample(5307, reported, TRUE)
  reward <- rbinom(reported, 1, 0.5)
  play <- function(b) {
    b$add(arm = first)
    b$observe(seq_len(reported), reward)
    b$posterior(arm = 1)
    seconds(function() {
      for (i in 1:20) b$observe(b$suggest()$id, i %% 2)
    }, 3) / 20
  }
  sites <- gp_bandit(arms, kernel_linear(), policy = ucb, rewards = rewards_binary())
  ours <- play(sites)
  gaussian <- play(gp_bandit(arms, kernel_linear(), 0.25, ucb))
  plain <- seconds(function() for (i in 1:5) plain_round(first, reward), 3) / 5
  data.frame(rewards = reported, rank = summary(sites)$rank, round_ms = 1000 * ours, plain_r_ms = 1000 * plain,
             ratio_to_plain_r = ours / plain, gaussian_ms = 1000 * gaussian)
}
rounds <- do.call(rbind, lapply(c(100, 400, 1600), site_round))

# ---- 2. Laplace's fit, dense ----------------------------------------------------------
beside_gplite <- function(n) {
  set.seed(3)
  x <- matrix(runif(2 * n), n)
  y <- rbinom(n, 1, stats::plogis(2 * sin(5 * x[, 1])))
  at <- matrix(runif(200), 100)
  reported <- NULL
  ours <- seconds(function() {
    b <- gp_bandit(box_domain(c(0, 0), c(1, 1)), kernel_se(0.3), policy = ucb, rewards = rewards_binary(),
                   engine = "dense")
    b$add(x = x)
    b$observe(seq_len(n), y)
    reported <<- b$posterior(x = at, scale = "latent")
  }, 3)
  out <- data.frame(rewards = n, fit_ms = 1000 * ours, gplite_ms = NA, ratio = NA, largest_difference = NA)
  if (!has("gplite")) return(out)
  theirs <- NULL
  spent <- seconds(function() {
    gp <- gplite::gp_init(gplite::cf_sexp(lscale = 0.3, magn = 1), gplite::lik_bernoulli(),
                          approx = gplite::approx_laplace(200, 1e-13))
    theirs <<- gplite::gp_pred(gplite::gp_fit(gp, x, y, jitter = 0), at, var = TRUE, jitter = 0)
  }, 3)
  out$gplite_ms <- 1000 * spent
  out$ratio <- ours / spent
  out$largest_difference <- max(abs(c(reported$mean - theirs$mean, reported$sd^2 - theirs$var)))
  out
}
fits <- do.call(rbind, lapply(c(50, 200, 500), beside_gplite))

# ---- 3. noise that differs: log score of held out readings -------------------------------
mcycle <- MASS::mcycle
set.seed(42)
fold <- sample(rep(1:5, length.out = 133))
score_of <- function(predict_fold) {
  spent <- NA
  scores <- NULL
  spent <- seconds(function() scores <<- unlist(lapply(1:5, function(k) {
    p <- predict_fold(mcycle[fold != k, ], mcycle$times[fold == k])
    stats::dnorm(mcycle$accel[fold == k], p$mean, p$sd, log = TRUE)
  })))
  data.frame(log_score = mean(scores), seconds = spent)
}
ours_by <- function(noise) function(data, at) {
  b <- gp_bandit(box_domain(2, 58), kernel_matern(2.5, 5, 2000), 500, policy_mean(),
                 refit = refit_every(1, mean = "fit", noise = noise))
  suppressWarnings(b$add(x = matrix(data$times), reward = data$accel))
  suppressWarnings(b$suggest())
  fit <- utils::tail(as.environment(b)$refits, 1)[[1]]
  lambda <- if (noise == "varying") gpbandits:::noise_at(fit$noise_field, matrix(at)) else fit$noise_var
  p <- b$posterior(x = matrix(at))
  list(mean = p$mean, sd = sqrt(p$sd^2 + lambda))
}
theirs_by <- function(fit) function(data, at) {
  p <- stats::predict(fit(matrix(data$times), data$accel, covtype = "Matern5_2"), matrix(at))
  list(mean = p$mean, sd = sqrt(p$sd2 + p$nugs))
}
scores <- list("noise = \"constant\"" = score_of(ours_by("constant")),
               "noise = \"varying\"" = score_of(ours_by("varying")))
if (has("hetGP")) {
  scores[["hetGP::mleHomGP"]] <- score_of(theirs_by(hetGP::mleHomGP))
  scores[["hetGP::mleHetGP"]] <- score_of(theirs_by(hetGP::mleHetGP))
}
scores <- cbind(model = names(scores), do.call(rbind, scores))
scores$log_score <- sprintf("%.3f", scores$log_score)

# ---- results ---------------------------------------------------------------------------
as_table <- function(frame) {
  number <- function(v) if (is.numeric(v)) format(signif(v, 3), digits = 3, scientific = NA, trim = TRUE) else v
  cells <- vapply(frame, function(column) vapply(column, number, ""), character(nrow(frame)))
  c(paste("|", paste(names(frame), collapse = " | "), "|"), paste0("|", strrep(" --- |", ncol(frame))),
    apply(matrix(cells, nrow(frame)), 1, function(row) paste("|", paste(row, collapse = " | "), "|")))
}
out <- c(
  "# Rewards as they are", "",
  "Successes of trials (logit); a round is `$suggest()` and `$observe()`, with Laplace's fit from a cold start.", "",
  "## A round on 5,307 arms, 60 features", "",
  "The aim is less than 20 ms. Plain R: the same steps by `chol()`, `crossprod()` and `backsolve()`, once a round.",
  "Gaussian: the same bandit whose rewards are readings, which is a rank-one update and no fit.", "",
  as_table(rounds), "", "## A fit by the dense engine, two inputs, posterior of 100 places", "",
  if (has("gplite")) paste("gplite", utils::packageVersion("gplite")) else "(gplite is not installed.)", "",
  as_table(fits), "", "## Noise that differs: mean log score on MASS::mcycle, five folds", "",
  "The aim is -4.252, hetGP's own on these folds.", "",
  as_table(scores)
)
writeLines(out)
writeLines(out, file.path("bench", "results", "likelihood.md"))
