# Two versions in turns: whole lives on arms and in boxes, by what both have. Seconds of processor.
#   for k in 1 2 3; do for lib in OLD NEW; do R_LIBS=$lib Rscript bench/turns.R; done; done
# (OLD and NEW: libraries with the two versions installed.) Results: bench/results/turns.md.
suppressMessages(library(gpbandits))

seconds <- function(code) {
  gc()
  sum(system.time(code)[c("user.self", "sys.self")])
}
height <- function(q) -((q[1] - 0.3)^2 + (q[2] - 0.6)^2) + 0.1 * sin(20 * q[1])
asked <- function(bandit, rounds) {
  set.seed(2)
  for (t in seq_len(rounds)) {
    q <- bandit$suggest()
    bandit$observe(q$id, height(as.numeric(q[1, 2:3])) + rnorm(1, sd = 0.1))
  }
}
played <- function(bandit, problem, rounds) {
  set.seed(2)
  run_bandit(bandit, problem, rounds)
}
set.seed(1)
few <- matrix(runif(2000), 1000)
over_few <- bandit_problem(few, sin(5 * few[, 1]) * cos(3 * few[, 2]), noise = 0.1)
set.seed(3)
many <- matrix(runif(8 * 20640), 20640)
over_many <- bandit_problem(many, rowSums(sin(3 * many)), noise = 0.1)
box <- box_domain(c(0, 0), c(1, 1))
spent <- c(
  "arms 1000, 20000 rounds UCB" = seconds(played(gp_ucb(few, kernel_matern(2.5, 0.3), 0.01), over_few, 20000)),
  "arms 1000, 4000 rounds TS" = seconds(played(gp_ts(few, kernel_se(0.3), 0.01, B = 1, R = 0.1), over_few, 4000)),
  "arms 20640 in 8, 1500 rounds" = seconds(played(gp_ucb(many, kernel_se(1), 0.01), over_many, 1500)),
  "box dense EI 500, ask and tell" = seconds(asked(gp_ei(box, kernel_matern(2.5, 0.3), 0.01, engine = "dense"), 500)),
  "box low rank UCB 3000" = seconds(asked(gp_ucb(box, kernel_se(0.3), 0.01, width = width_constant(2), engine = "lowrank"), 3000))
)
cat(sprintf("%s\t%.3f\n", names(spent), spent), sep = "")
