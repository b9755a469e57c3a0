# Random lives beside the oracle, mutated objects and journals, strange values for every argument, interrupts and kills, for as long as is
# allowed.
#   Rscript tools/fuzz.R [seed] [minutes]
# A fault is printed with the seed that makes it again (Rscript tools/fuzz.R SEED 0: that one turn), and the exit status is 1.

arguments <- suppressWarnings(as.numeric(commandArgs(TRUE)))
first_seed <- if (length(arguments) >= 1) arguments[1] else 1
minutes <- if (length(arguments) >= 2) arguments[2] else 10
if (anyNA(c(first_seed, minutes))) stop("usage: Rscript tools/fuzz.R [seed] [minutes]")

suppressMessages({
  library(testthat)
  library(gpbandits)
})
Sys.setenv(GPBANDITS_TEST_LEVEL = "1")
folder <- "tests/testthat"
for (file in list.files(folder, "^helper-.*[.]R$", full.names = TRUE)) source(file)
# Definitions of a test file, without its tests.
definitions <- function(file) {
  for (line in parse(file.path(folder, file))) {
    if (is.call(line) && !identical(line[[1]], as.name("test_that"))) eval(line, globalenv())
  }
}
definitions("test-bandit-record.R")
definitions("test-bandit-check-mutations.R")

counts <- c(lives = 0, objects = 0, texts = 0, journals = 0, calls = 0, "long calls" = 0, crashes = 0, interrupts = 0, kills = 0)
fates <- c(refused = 0, answered = 0)
faults <- character()
count <- function(what, by = 1) counts[what] <<- counts[what] + by
fault <- function(what, seed, ...) {
  words <- sprintf("FAULT seed %d, %s: %s", seed, what, paste0(...))
  faults <<- c(faults, words)
  cat(words, "\n", sep = "")
}

# ---- lives beside the oracle --------------------------------------------------

one_life <- function(seed) {
  set.seed(seed)
  pending <- paired_pendings()[[sample(3, 1)]]
  drift <- paired_drifts()[[sample(4, 1)]]
  contexts <- if (is.null(drift) && stats::runif(1) < 0.3) c(0.1, 0.9)
  worst <- random_life(seed, 40, pending, drift, contexts)
  count("lives")
  if (max(unlist(worst)) > tol$engine) fault("life", seed, "off by ", format(max(unlist(worst))))
}

# ---- mutations ----------------------------------------------------------------

# Those of the tests, and of what came later: outcomes, counts, duels, priors over the optimum, shares, limits on a search space.
later_victims <- function() {
  set.seed(2)
  x <- seq(0, 1, length.out = 9)
  played <- function(bandit, value, queries = 1) {
    for (t in 1:5) {
      q <- bandit$suggest(queries)
      if (t != 3) value(bandit, q, t)
    }
    bandit
  }
  one <- function(bandit, q, t) bandit$observe(q$id, sin(5 * t))
  two <- list(yield = to_maximize(), cost = at_most(0.5))
  square <- list(u = c(0, 1), v = c(0, 1))
  space <- search_space(a = param_real(0.01, 1, log = TRUE), b = param_factor(c("x", "y"), features = data.frame(p = 1:2)),
                        n = param_integer(1, 9, when = ~ b == "y"))
  list(
    outcomes = played(gp_bandit(x, kernel_se(0.3), 0.05, policy_ei(), outcomes = two), function(b, q, t) {
      b$observe(q$id, c(yield = sin(t), if (t > 2) c(cost = 0.1 * t)))
    }),
    front = played(gp_bandit(square, kernel_se(0.3), 0.05, policy_ehvi(c(-1, -1)), outcomes = list(a = to_maximize(), b = to_minimize())),
                   function(b, q, t) b$observe(q$id, c(a = q$u, b = q$v))),
    counts = played(gp_bandit(x, kernel_se(0.3), policy = policy_ucb(1), rewards = rewards_counts()), function(b, q, t) b$observe(q$id, t, size = 2)),
    robust = played(gp_bandit(x, kernel_se(0.3), 0.05, policy_ei(), rewards = rewards_robust()), one),
    duels = played(gp_bandit(x, kernel_se(0.3), policy = policy_duel(1), rewards = rewards_preferences()), function(b, q, t) b$observe(q$id, prefer = q$id[1]), 2),
    rankings = played(gp_bandit(x, kernel_se(0.3), policy = policy_ts(1), rewards = rewards_preferences("rankings")), function(b, q, t) b$rank(q$id[c(2, 3, 1)]), 3),
    auto = played(auto_bandit(square, n_initial = 2, prior_optimum = prior_normal(u = c(0.5, 0.2)),
                              model = gp_model(refit = refit_every(3, average = 2, starts = 1))), one),
    drawn = played(gp_bandit(square, kernel_se(0.3), 0.05, policy_ei(incumbent = "draws")), one),
    shares = played(gp_bandit(search_space(m = param_shares(c("p", "q", "r"))), kernel_se(0.3), 0.05, policy_ei()), one),
    space = played(gp_ei(space, kernel_se(0.3, dims = "a") + kernel_categorical(dims = "b"), 0.05), one),
    batches = played(bpe(x, kernel_se(0.3), 0.05, rounds = 20, B = 1, R = 0.1), one),
    fixed = played(gp_ucb(square, kernel_se(0.3), 0.05, width = width_corrupt(width_amm(1, 0.1), 1)), one)
  )
}
victims <- suppressWarnings(c(mutation_victims(), later_victims()))

note_fate <- function(what, seed, fate) {
  count(what)
  if (fate %in% c("refused", "an answer")) fates[c(refused = 1, "an answer" = 2)[[fate]]] <<- fates[c(refused = 1, "an answer" = 2)[[fate]]] + 1
  else fault(what, seed, fate)
}

mutated_objects <- function(seed) {
  set.seed(seed)
  for (k in 1:50) note_fate("objects", seed, fate_of(read_everything(mutated_bandit(victims[[sample(length(victims), 1)]]))))
}

# Texts as from_json() reads them, with a number, a word or a letter changed.
texts <- Filter(Negate(is.null), lapply(victims, function(bandit) tryCatch(as_json(bandit), gpbandits_error = function(e) NULL)))

mutated_text <- function(text) {
  token <- sample(c("-?[0-9][0-9.e+-]*", "\"[a-z_0-9]+\"", "[][{},:]"), 1)
  at <- gregexpr(token, text)[[1]]
  k <- sample.int(length(at), 1)
  odd <- c("null", "1e308", "-1", "0", "1e400", "2147483648", "\"x\"", "[]", "{}", "true", "\"NaN\"", "0.5", "", ",", "[[1]]", "{\"type\":\"list\",\"values\":[]}")
  paste0(substr(text, 1, at[k] - 1), sample(odd, 1), substring(text, at[k] + attr(at, "match.length")[k]))
}

mutated_texts <- function(seed) {
  set.seed(seed)
  for (k in 1:30) note_fate("texts", seed, fate_of(read_everything(from_json(mutated_text(texts[[sample(length(texts), 1)]])))))
}

mutated_journals <- function(seed) {
  set.seed(seed)
  file <- tempfile()
  b <- gp_ucb(seq(0, 1, length.out = 9), kernel_se(0.3), 0.05, pending = pending_hallucinate(), journal = file)
  for (t in 1:8) {
    if (t == 6) b$add_arms(c(1.2, 1.4))
    b$observe(b$suggest(2, arms = if (t > 4) c(2, 5:7))$id[1], stats::rnorm(1))
  }
  b$amend(1, 0.3)
  b$withdraw(2)
  for (k in 1:20) {
    spoilt <- mutated_journal(file)
    note_fate("journals", seed, fate_of(read_everything(open_bandit(spoilt, rng = FALSE))))
  }
  # Bits of the file as it is: an error of ours, or all changes.
  whole <- copied_journal(file)
  bytes <- readBin(whole, "raw", file.size(whole))
  for (k in 1:20) {
    spoilt <- tempfile()
    at <- sample.int(length(bytes), 1)
    flipped <- bytes
    flipped[at] <- xor(flipped[at], as.raw(2^sample(0:7, 1)))
    writeBin(flipped, spoilt)
    note_fate("journals", seed, fate_of({
      again <- suppressWarnings(open_bandit(spoilt, rng = FALSE))
      if (nrow(again$history()) < nrow(b$history())) stop("rounds are lost")
      list()
    }))
  }
}

# ---- interrupts and kills -----------------------------------------------------

# A child counts its rounds into a file while signals come; the journal must hold all that it was told of.
life_of_child <- function(journal, reported, catches) c(
  "suppressPackageStartupMessages(library(gpbandits))",
  sprintf("journal <- %s", deparse(journal)),
  sprintf("told <- %s", deparse(reported)),
  "b <- if (file.exists(journal)) open_bandit(journal) else gp_bucb(seq(0, 1, length.out = 60), kernel_matern(1.5, 0.1), 0.01, journal = journal)",
  "cat('ready\\n', file = told, append = TRUE)",
  "one <- function() {",
  "  q <- b$suggest()",
  "  b$observe(q$id, sin(9 * q$x1))",
  "  cat(q$id, '\\n', file = told, append = TRUE)",
  "}",
  # (Interrupts come within a round only: one that comes while another is being handled would end any script.)
  if (catches) "suspendInterrupts(repeat tryCatch(allowInterrupts(one()), interrupt = function(i) cat('struck\\n', file = told, append = TRUE)))"
  else "repeat one()"
)

start_child <- function(code) {
  script <- tempfile(fileext = ".R")
  pid <- tempfile()
  writeLines(c(sprintf("cat(Sys.getpid(), file = %s)", deparse(pid)), code), script)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", script), wait = FALSE, stdout = FALSE, stderr = FALSE,
          env = paste0("R_LIBS=", Sys.getenv("R_LIBS")))
  wait_until(function() file.exists(pid) && file.size(pid) > 0, "a child")
  scan(pid, quiet = TRUE)
}

check_child <- function(what, seed, journal, reported) {
  rounds <- suppressWarnings(as.integer(readLines(reported, warn = FALSE)))
  rounds <- rounds[!is.na(rounds)]
  history <- suppressWarnings(open_bandit(journal, rng = FALSE))$history()
  if (!all(rounds %in% history$id[!is.na(history$reward)])) fault(what, seed, "a reward that was acknowledged is lost")
}

strike_child <- function(what, seed, signal, times, catches) {
  set.seed(seed)
  journal <- tempfile()
  reported <- tempfile()
  on.exit(unlink(c(journal, reported)))
  child <- start_child(life_of_child(journal, reported, catches))
  on.exit(tools::pskill(child, tools::SIGKILL), add = TRUE)
  wait_until(function() lines_in(reported) > 2, "the child's first rounds")
  for (k in seq_len(times)) {
    Sys.sleep(stats::runif(1, 0, 0.05))
    if (!tools::pskill(child, signal)) fault(what, seed, "the child is gone")
    count(what)
  }
  if (catches) {
    # It goes on: no flag was left behind that refuses every later change.
    goes_on <- tryCatch({
      wait_until(function() sum(!is.na(suppressWarnings(as.integer(utils::tail(readLines(reported, warn = FALSE), 3))))) >= 2, "rounds after interrupts")
      TRUE
    }, error = function(e) FALSE)
    if (!goes_on) fault(what, seed, "nothing is played after an interrupt")
    tools::pskill(child, tools::SIGKILL)
  }
  # (It may stay in the list of processes until its parent asks.)
  repeat {
    size <- file.size(reported)
    Sys.sleep(0.1)
    if (file.size(reported) == size) break
  }
  check_child(what, seed, journal, reported)
}

# ---- strange values for every argument -------------------------------------------

# In a process of its own, which they may kill: then the call under way is the fault.
invalid_arguments <- function(seed, seconds = 20) {
  folder <- tempfile("arguments")
  dir.create(file.path(folder, "work"), recursive = TRUE)
  on.exit(unlink(folder, recursive = TRUE))
  lines <- function(name) if (file.exists(file.path(folder, name))) readLines(file.path(folder, name), warn = FALSE)
  status <- system2(file.path(R.home("bin"), "Rscript"), c("tools/fuzz_arguments.R", seed, seconds, folder),
                    stdout = FALSE, stderr = FALSE, timeout = seconds + 400)
  calls <- suppressWarnings(as.numeric(lines("calls")))
  count("calls", if (length(calls)) calls else 0)
  for (words in lines("faults")) fault("argument", seed, words)
  # (Not faults: they asked for so much, see tools/fuzz_arguments.R.)
  for (words in lines("long")) cat("long, seed ", seed, ": ", words, "\n", sep = "")
  count("long calls", length(lines("long")))
  if (status != 0 || !identical(trimws(lines("now")), "done")) {
    count("crashes")
    fault("argument", seed, if (status == 124) "no end of " else "R died of ", lines("now"))
  }
}

# Which exports have no call there that answers? Their arguments would never be reached.
check_reach <- function() {
  folder <- tempfile("reach")
  dir.create(file.path(folder, "work"), recursive = TRUE)
  on.exit(unlink(folder, recursive = TRUE))
  said <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c("tools/fuzz_arguments.R", 1, "--reach", folder), stdout = TRUE, stderr = TRUE))
  for (words in said) fault("reach", 0, words)
}

# ---- turns --------------------------------------------------------------------

# Children take seconds: one in ten turns.
turn <- function(seed) {
  parts <- list(life = one_life, object = mutated_objects, text = mutated_texts, journal = mutated_journals, argument = invalid_arguments)
  if (seed %% 10 == 0) {
    parts$interrupts <- function(seed) strike_child("interrupts", seed, tools::SIGINT, 40, TRUE)
    parts$kill <- function(seed) strike_child("kills", seed, tools::SIGKILL, 1, FALSE)
  }
  for (part in names(parts)) tryCatch(parts[[part]](seed), error = function(e) fault(part, seed, conditionMessage(e)))
}

if (minutes > 0) check_reach()
end <- proc.time()[["elapsed"]] + 60 * minutes
seed <- first_seed
repeat {
  turn(seed)
  seed <- seed + 1
  if (proc.time()[["elapsed"]] >= end) break
}
cat(sprintf("fuzz: seeds %d to %d: %s; mutations refused %d, answered %d; %d fault(s)\n", first_seed, seed - 1,
            paste(counts, names(counts), collapse = ", "), fates[[1]], fates[[2]], length(faults)))
quit(status = if (length(faults)) 1 else 0)
