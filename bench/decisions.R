# Contextual decisions with yes/no rewards: what $suggest(context) and $observe() take after many rounds, beside the
# same bandit with measurements; the error of the sites that are not fitted again; propensities and off-policy
# evaluation of the whole log. Ratios are of one run.
#   Rscript bench/decisions.R [rounds=1e4] [blocks=1000,5000,10000] [rows=10000] [draws=200]
# Processor time of one thread. Results: bench/results/decisions.md.
library(gpbandits)
source("bench/shared/script.R")
args <- lapply(arguments(rounds = "1e4", blocks = "1000,5000,10000", rows = "10000", draws = "200"), numbers)

set.seed(1)
features <- matrix(rnorm(10 * 5), 10)                     # 10 arms with 5 features
levels <- matrix(1:4)                                     # 4 arms without features
truth <- list(additive = rnorm(10), interaction = matrix(rnorm(20), 4))
logit_of <- list(
  additive = function(arm, x) sum(truth$additive * c(features[arm, ], x)) / 3,
  interaction = function(arm, x) sum(truth$interaction[arm, ] * x) / 2
)
bandits <- list(
  additive = function(make, ...) make(features, kernel_linear(), contexts = 5, ...),
  interaction = function(make, ...) {
    make(levels, kernel_categorical(0.3, dims = 1) * kernel_linear(dims = 2:6), contexts = 5, ...)
  }
)
makers <- list(Thompson = function(...) gp_bandit(..., policy = policy_ts(width_constant(1))),
               UCB = function(...) gp_bandit(..., policy = policy_ucb(width_constant(2))))

processor <- function() sum(proc.time()[c("user.self", "sys.self")])

# Microseconds of a suggestion and of an observation in the 500 rounds before each of `blocks`.
live <- function(bandit, logit, binary) {
  found <- list()
  x <- matrix(rnorm(5 * args$rounds), args$rounds)
  spent <- c(suggest = 0, observe = 0)
  for (t in seq_len(args$rounds)) {
    timed <- any(t > args$blocks - 500 & t <= args$blocks)
    began <- if (timed) processor()
    q <- bandit$suggest(context = x[t, ])
    between <- if (timed) processor()
    p <- logit(q$arm, x[t, ])
    reward <- if (binary) as.double(runif(1) < plogis(p)) else p + rnorm(1, sd = 0.5)
    here <- if (timed) processor()
    bandit$observe(q$id, reward)
    if (timed) spent <- spent + c(between - began, processor() - here)
    if (t %in% args$blocks) {
      found[[as.character(t)]] <- 1e6 * spent / 500
      spent[] <- 0
    }
  }
  found
}

cat("## Microseconds of a call\n\n")
line(c("kernel", "policy", "round", "suggest", "observe", "both / with measurements", "engine, rank", "measured error"))
line(rep("---", 8))
kept <- list()
for (kernel in names(bandits)) for (policy in names(makers)) {
  binary <- bandits[[kernel]](makers[[policy]], rewards = rewards_binary())
  plain <- bandits[[kernel]](makers[[policy]], noise_var = 0.25)
  ours <- live(binary, logit_of[[kernel]], TRUE)
  theirs <- live(plain, logit_of[[kernel]], FALSE)
  said <- summary(binary)
  for (t in names(ours)) {
    line(c(kernel, policy, t, sprintf("%.0f", ours[[t]]), sprintf("%.1f", sum(ours[[t]]) / sum(theirs[[t]])),
           paste0(said$engine, ", ", said$rank), sprintf("%.1e", said$error_bound)))
  }
  kept[[paste(kernel, policy)]] <- binary
}

cat("\n## Processor seconds of propensities and of off-policy evaluation\n\n")
line(c("what", "rows", "seconds", "estimate", "se", "of it by draws"))
line(rep("---", 6))
target <- kept[["interaction Thompson"]]
logged <- NULL
took <- seconds(function() logged <<- target$history(draws = args$draws))
logged <- utils::head(logged, args$rows)
line(c("$history(draws = ) of Thompson sampling", nrow(logged), sprintf("%.1f", took), "-", "-",
       sprintf("%.3f at most", max(logged$propensity_se))))
found <- NULL
for (name in c("interaction UCB", "interaction Thompson")) {
  took <- seconds(function() found <<- evaluate_policy(logged, kept[[name]], "snips", draws = args$draws))
  line(c(paste("evaluate_policy() of", name), found$n, sprintf("%.1f", took), sprintf("%.3f", found$estimate),
         sprintf("%.3f", found$se), sprintf("%.4f", found$se_draws)))
}
