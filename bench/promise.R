# Is the promise honest? Searches with known truth: what is promised at the recommended point (`value`, `sd`) beside the true mean there,
# what the recommended point loses, and how likely the model makes readings at fresh points.
#
#   Rscript bench/promise.R [cases=flat,bowl,...] [seeds=1:16] [evaluations=25] [methods=default,...] [out=FILE]
#   Rscript bench/promise.R report=TRUE [out=FILE]
#
# Every search is a line of the file `out` (appended; searches that it has are not made again). `z`: (promise - truth) / sd; `loss`: the
# true mean at the recommended point beyond the best one, in units of the truth's sd over the space (flat: of the noise); `score`: mean log
# density of 200 fresh readings (clean cases: with noise of a thousandth of the truth's sd). `truth` of a case is minimised.
library(gpbandits)

arguments <- function() {
  given <- strsplit(commandArgs(TRUE), "=", fixed = TRUE)
  stats::setNames(lapply(given, `[`, 2), vapply(given, `[`, "", 1))
}
args <- utils::modifyList(list(cases = "small", seeds = "1:16", evaluations = "25", methods = "default", out = "", report = "FALSE",
                               label = "now"), arguments())
numbers <- function(text) eval(parse(text = sprintf("c(%s)", text)))

# ---- cases: function(seed) gives `space`, `truth` (of a named list or vector), `noise` (sd), perhaps `reading(p)` ------------------------

unit_box <- function(d) box_domain(stats::setNames(rep(0, d), paste0("x", seq_len(d))), rep(1, d))

# A quadratic bowl with its optimum inside, of sd about one.
bowl_of <- function(d) {
  at <- stats::runif(d, 0.2, 0.8)
  weight <- stats::runif(d, 0.5, 1.5)
  function(p) 2.5 * sum(weight * (unlist(p) - at)^2) - 0.5
}

learner_like <- function(d, noise, outliers = 0, failures = 0) {
  at <- stats::runif(d, 0.2, 0.8)
  size <- rep_len(c(0.3, 0.15, 0.05, 0.1, 0.02), d) * stats::runif(d, 0.5, 1.5)
  truth <- function(p) 0.35 + sum(size * abs(unlist(p) - at)^1.7) + 0.05 * (p[[1]] - at[1]) * (p[[2]] - at[2])
  reading <- function(p) {
    if (stats::runif(1) < failures) stop("diverged")
    if (stats::runif(1) < outliers) return(3)
    truth(p) + stats::rnorm(1, sd = noise)
  }
  list(space = unit_box(d), truth = truth, noise = noise, reading = reading)
}

cases <- list(
  flat = function() list(space = unit_box(4), truth = function(p) 0.25, noise = 0.02),
  flat2 = function() list(space = unit_box(2), truth = function(p) 0.25, noise = 0.02),
  bowl = function() list(space = unit_box(4), truth = bowl_of(4), noise = 0.3),
  one = function() {
    at <- stats::runif(1, 0.2, 0.8)
    list(space = unit_box(4), truth = function(p) 6 * (p[[1]] - at)^2, noise = 0.4)
  },
  clean = function() list(space = unit_box(4), truth = bowl_of(4), noise = 0),
  wiggly = function() {
    phase <- stats::runif(2, 0, 2 * pi)
    list(space = unit_box(2), truth = function(p) sin(7 * p[[1]] + phase[1]) + cos(5 * p[[2]] + phase[2]), noise = 0.1)
  },
  # A factor that explains about a quarter of the variance, as in the issue.
  factor = function() {
    effect <- sample(c(-0.6, -0.2, 0.2, 0.6))
    at <- stats::runif(2, 0.2, 0.8)
    list(space = search_space(x1 = c(0, 1), x2 = c(0, 1), kind = param_factor(letters[1:4])),
         truth = function(p) 4 * (p$x1 - at[1])^2 + 2 * (p$x2 - at[2])^2 + effect[match(p$kind, letters)], noise = 0.15)
  },
  learner = function() learner_like(5, 0.01),
  outliers = function() learner_like(5, 0.01, outliers = 1 / 30),
  failing = function() learner_like(5, 0.01, failures = 1 / 10),
  nine = function() learner_like(9, 0.02)
)
groups <- list(small = c("flat", "bowl", "one", "clean"), all = names(cases))

# ---- methods: function(case, reading, evaluations) gives `value`, `sd`, `par`, `predict(data.frame)` with `mean`, `sd` ------------------

searched <- function(...) {
  settings <- list(...)
  function(case, reading, evaluations) {
    found <- do.call(minimize_bandit, c(list(reading, case$space, evaluations, progress = FALSE), settings))
    list(value = found$value, sd = found$sd, par = found$par, predict = function(frame) predict(found, frame), bandit = found$bandit)
  }
}

asked <- function(case, reading, evaluations) {
  bandit <- auto_bandit(case$space, direction = "minimize")
  for (k in seq_len(evaluations)) {
    place <- bandit$suggest()
    result <- tryCatch(reading(as.list(place[-1])), error = function(e) NULL)
    if (is.null(result)) bandit$fail(place$id) else bandit$observe(place$id, result)
  }
  best <- bandit$best()
  list(value = best$mean, sd = best$sd, par = as.list(best[case$space$names]), predict = function(frame) predict(bandit, frame), bandit = bandit)
}

methods <- list(default = searched(), ask_tell = asked)
variants <- Sys.getenv("PROMISE_VARIANTS")
if (nzchar(variants)) source(variants)                 # more entries of `methods` and `cases`, to choose defaults by

uniform_points <- function(space, n) {
  if (inherits(space, "box_domain") || !is.null(space$lower)) {
    d <- length(space$names)
    out <- as.data.frame(matrix(stats::runif(n * d), n))
    return(stats::setNames(out, space$names))
  }
  data.frame(x1 = stats::runif(n), x2 = stats::runif(n), kind = sample(letters[1:4], n, TRUE))
}

one_search <- function(name, method, seed, evaluations) {
  set.seed(seed)
  case <- cases[[name]]()
  fresh <- uniform_points(case$space, 200)
  at <- vapply(seq_len(200), function(i) case$truth(as.list(fresh[i, ])), 0)
  spread <- if (stats::sd(at) > 0) stats::sd(at) else case$noise
  grid <- uniform_points(case$space, 4000)
  least <- min(vapply(seq_len(nrow(grid)), function(i) case$truth(as.list(grid[i, ])), 0))
  reading <- if (is.null(case$reading)) function(p) case$truth(p) + stats::rnorm(1, sd = case$noise) else case$reading
  readings <- at + stats::rnorm(200, sd = case$noise)
  set.seed(1000 + seed)
  started <- proc.time()
  found <- methods[[method]](case, reading, evaluations)
  spent <- proc.time() - started
  truth <- case$truth(as.list(found$par))
  belief <- found$predict(fresh)
  noise <- max(case$noise, 1e-3 * spread)
  data.frame(label = args$label, case = name, method = method, seed = seed, evaluations = evaluations, promised = signif(found$value, 8),
             sd = signif(found$sd, 6), truth = signif(truth, 8), z = signif((found$value - truth) / found$sd, 5),
             loss = signif((truth - least) / spread, 5),
             score = signif(mean(stats::dnorm(readings, belief$mean, sqrt(belief$sd^2 + noise^2), log = TRUE)) + log(spread), 5),
             off = signif(sqrt(mean((belief$mean - at)^2)) / spread, 5), processor = signif(sum(spent[1:2]), 4))
}

main <- function() {
  wanted <- unlist(lapply(strsplit(args$cases, ",")[[1]], function(name) if (name %in% names(groups)) groups[[name]] else name))
  done <- if (nzchar(args$out) && file.exists(args$out)) utils::read.csv(args$out) else NULL
  rows <- NULL
  for (name in wanted) for (method in strsplit(args$methods, ",")[[1]]) for (seed in numbers(args$seeds)) {
    evaluations <- numbers(args$evaluations)
    if (!is.null(done) && any(done$label == args$label & done$case == name & done$method == method & done$seed == seed &
                                done$evaluations == evaluations)) next
    row <- tryCatch(suppressWarnings(one_search(name, method, seed, evaluations)), error = function(e) {
      message(name, " ", seed, ": ", conditionMessage(e))
      NULL
    })
    if (nzchar(args$out) && !is.null(row)) {
      utils::write.table(row, args$out, sep = ",", append = file.exists(args$out), row.names = FALSE, col.names = !file.exists(args$out))
    }
    rows <- rbind(rows, row)
  }
  print(promise_table(if (nzchar(args$out)) utils::read.csv(args$out) else rows), row.names = FALSE)
}

promise_table <- function(rows) {
  parts <- split(rows, list(factor(rows$case, unique(rows$case)), factor(rows$label, unique(rows$label)), rows$method, rows$evaluations),
                 drop = TRUE)
  out <- lapply(parts, function(part) {
    data.frame(case = part$case[1], label = part$label[1], method = part$method[1], evaluations = part$evaluations[1], searches = nrow(part),
               within_2 = round(mean(abs(part$z) <= 2), 2), beyond_3 = round(mean(!(abs(part$z) <= 3)), 2),
               mean_z = round(mean(abs(part$z)), 1), loss = round(mean(part$loss), 3), log_score = round(mean(part$score), 2),
               rmse = round(mean(part$off), 2), seconds = round(mean(part$processor), 1))
  })
  do.call(rbind, out)
}

markdown <- function(table) {
  cells <- matrix(vapply(table, function(column) format(column, trim = TRUE), character(nrow(table))), nrow(table))
  line <- function(words) paste0("| ", paste(words, collapse = " | "), " |")
  c(line(names(table)), line(ifelse(vapply(table, is.numeric, NA), "---:", "---")), apply(cells, 1, line), "")
}

if (args$report == "TRUE") writeLines(markdown(promise_table(utils::read.csv(args$out)))) else main()
