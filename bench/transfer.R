# What earlier campaigns help, and what they cost where they tell nothing: regret of `$best()` after each round of a search with an earlier campaign
# (`transfer =`) beside one without.
#
#   Rscript bench/transfer.R [function=hartmann3] [seeds=1:20] [rounds=16] [rows=40] [noise=.1] [cases=none,same,...] [out=FILE] [label=now]
#   Rscript bench/transfer.R report=TRUE out=FILE
#
# The target is the function `hartmann3`, `hartmann6`, or a draw of a Gaussian process in 2 inputs (`gp`), in units of its sd over the box. The
# earlier campaign has `rows` readings at uniform points, in units of its own (100 + 5 f), of: the same function (`same`); the function moved by
# .05 or .15 in each input (`near`, `moved`); a mixture of it and of another (`r9`, `r5`: correlation .9, .5 over the box); another (`unrelated`: a
# draw of a Gaussian process); or it upside down (`inverted`). Noise is a Gaussian's, of sd `noise`. Same seeds, same noise for all. Every round is a line of `out`.
library(gpbandits)
source("bench/shared/script.R")
args <- arguments(`function` = "hartmann3", seeds = "1:20", rounds = "16", rows = "40", noise = "0.1", out = "", report = "FALSE", label = "now",
                  cases = "none,same,near,moved,r9,r5,unrelated,inverted")

# A draw of a Gaussian process by random features.
drawn <- function(d, lengthscale) {
  W <- matrix(stats::rnorm(500 * d), 500) / sqrt(stats::rchisq(500, 5) / 5) / lengthscale
  b <- stats::runif(500, 0, 2 * pi)
  a <- stats::rnorm(500) * sqrt(2 / 500)
  function(x) drop(cos(x %*% t(W) + rep(b, each = nrow(x))) %*% a)
}

problem_of <- function(name, seed) {
  set.seed(seed)
  if (name == "gp") {
    d <- 2
    f <- drawn(d, 0.3)
  } else {
    problem <- benchmark_function(name)
    d <- length(problem$domain$names)
    f <- problem$f
  }
  at <- matrix(stats::runif(20000 * d), ncol = d)
  standard <- function(g) {
    values <- g(at)
    centre <- mean(values)
    unit <- stats::sd(values)
    list(f = function(x) (g(x) - centre) / unit, values = (values - centre) / unit)
  }
  target <- standard(f)
  other <- standard(drawn(d, if (d > 3) 0.6 else 0.3))
  # (What the other has in common with the target by chance is taken away.)
  r <- stats::cor(other$values, target$values)
  unlike <- function(x) (other$f(x) - r * target$f(x)) / sqrt(1 - r^2)
  starts <- at[order(-target$values)[1:10], , drop = FALSE]
  top <- max(apply(starts, 1, function(x) {
    -stats::optim(x, function(x) -target$f(matrix(x, 1)), method = "L-BFGS-B", lower = 0, upper = 1)$value
  }))
  mixed <- function(rho) function(x) rho * target$f(x) + sqrt(1 - rho^2) * unlike(x)
  shift <- sample(c(-1, 1), d, TRUE)
  list(d = d, f = target$f, top = top,
       old = list(same = target$f, near = function(x) target$f(x + rep(0.05 * shift, each = nrow(x))),
                  moved = function(x) target$f(x + rep(0.15 * shift,
                                                       each = nrow(x))), r9 = mixed(0.9), r5 = mixed(0.5), untransfer = unlike,
                  inverted = function(x) -target$f(x)))
}

one_search <- function(name, case, seed, rounds, rows, noise) {
  problem <- problem_of(name, seed)
  names <- paste0("x", seq_len(problem$d))
  set.seed(1000 + seed)
  x <- matrix(stats::runif(rows * problem$d), rows, dimnames = list(NULL, names))
  errors <- stats::rnorm(rows)
  e <- stats::rnorm(rounds, sd = noise)
  old <- if (case != "none") list(old = data.frame(x, reward = 100 + 5 * (problem$old[[case]](x) + noise * errors)))
  b <- auto_bandit(box_domain(stats::setNames(rep(0, problem$d), names), rep(1, problem$d)), transfer = old)
  out <- vector("list", rounds)
  for (t in seq_len(rounds)) {
    q <- b$suggest()
    y <- problem$f(as.matrix(q[names]))
    b$observe(q$id, 60 + 3 * (y + e[t]))
    believed <- if (case != "none") summary(b)$transfer$correlation else NA
    best <- problem$f(as.matrix(b$best()[names]))
    out[[t]] <- data.frame(label = args$label, problem = name, case = case, seed = seed, round = t, played = signif(problem$top - y, 6),
                           regret = signif(problem$top - best, 6), correlation = signif(believed, 3))
  }
  do.call(rbind, out)
}

main <- function() {
  for (seed in numbers(args$seeds)) for (case in words(args$cases)) {
    rows <- one_search(args[["function"]], case, seed, numbers(args$rounds), numbers(args$rows), numbers(args$noise))
    keep_rows(rows, args$out)
  }
}

report <- function() {
  all <- utils::read.csv(args$out)
  for (part in split(all, list(all$label, all$problem), drop = TRUE)) {
    none <- all[all$case == "none" & all$problem == part$problem[1], ]
    at <- c(1, 2, 3, 4, 6, 8, 12, 16, 20, 24)
    at <- at[at <= max(part$round)]
    cat("\n", part$label[1], part$problem[1], ": mean regret of $best(), ratio to none, log10 against none (standard error)\n")
    for (case in unique(part$case)) {
      mine <- part[part$case == case, ]
      cells <- vapply(at, function(t) {
        a <- mine[mine$round == t, ]
        b <- none[none$round == t, ]
        b <- b[match(a$seed, b$seed), ]
        a <- a[!is.na(b$seed), ]
        b <- b[!is.na(b$seed), ]
        change <- log10(pmax(a$regret, 1e-4)) - log10(pmax(b$regret, 1e-4))
        sprintf("%.2f %.2f (%.2f) %.2f (%.2f)", mean(a$regret), mean(a$regret) / mean(b$regret),
                stats::sd(a$regret - mean(a$regret) / mean(b$regret) * b$regret) / sqrt(nrow(a)) / mean(b$regret), mean(change),
                stats::sd(change) / sqrt(nrow(a)))
      }, "")
      cat(sprintf("%-10s n=%d | %s\n", case, length(unique(mine$seed)), paste(cells, collapse = " | ")))
    }
  }
}

if (args$report == "TRUE") report() else main()
