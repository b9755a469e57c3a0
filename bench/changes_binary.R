# A web team's test: 3 to 5 variants with yes/no rewards, whose rates change at half time. Regret per visit before and
# after the change: Thompson sampling with several rules for changes, and discounted Thompson sampling with Beta priors.
#   Rscript bench/changes_binary.R [SEEDS]      (in the repository, gpbandits installed)
# Prints tables and writes bench/results/changes_binary.md.
suppressMessages(library(gpbandits))

seeds <- as.integer(c(commandArgs(TRUE), 20)[1])
visits <- 2000
cases <- list("4 variants, reversed" = list(c(0.10, 0.15, 0.20, 0.30), c(0.30, 0.20, 0.15, 0.10)),
              "3 variants, the best one fails" = list(c(0.10, 0.20, 0.35), c(0.10, 0.20, 0.05)),
              "5 variants, small rates, reversed" = list(c(0.04, 0.06, 0.08, 0.10, 0.15),
                                                         c(0.15, 0.10, 0.08, 0.06, 0.04)))

# The regret of each visit; `choose()` and `tell(arm, reward)` are a method's.
regret_of <- function(method, rates) {
  vapply(seq_len(visits), function(t) {
    p <- rates[[if (t <= visits / 2) 1 else 2]]
    arm <- method$choose()
    method$tell(arm, as.numeric(stats::runif(1) < p[arm]))
    max(p) - p[arm]
  }, 0)
}

# Independent variants: the kernel's lengthscale is short. The prior mean is a rate of 15%.
gp_method <- function(changes) {
  function(count) {
    b <- gp_bandit(seq_len(count), kernel_se(0.1, 1), policy = policy_ts(), rewards = rewards_binary(),
                   mean = stats::qlogis(0.15), changes = changes())
    id <- NULL
    list(choose = function() {
      q <- b$suggest()
      id <<- q$id
      q$arm
    }, tell = function(arm, reward) b$observe(id, reward))
  }
}

beta_method <- function(discount) {
  function(count) {
    won <- lost <- numeric(count)
    list(choose = function() which.max(stats::rbeta(count, 1 + won, 1 + lost)), tell = function(arm, reward) {
      won <<- discount * won
      lost <<- discount * lost
      won[arm] <<- won[arm] + reward
      lost[arm] <<- lost[arm] + 1 - reward
    })
  }
}

methods <- list(
  "GP-TS" = gp_method(function() NULL),
  "GP-TS, weights, rate 0.005" = gp_method(function() change_oracle(rate = 0.005, by = "weights")),
  "GP-TS, window 400" = gp_method(function() change_oracle(window = 400)),
  "GP-TS, change_detect(delta = 0.05)" = gp_method(function() change_detect(delta = 0.05)),
  "GP-TS, changes = \"auto\"" = gp_method(function() "auto"),
  "Beta-TS, discount 0.99" = beta_method(0.99),
  "Beta-TS, discount 0.995" = beta_method(0.995)
)

lines <- c("# Yes/no rewards that change at half time", "",
           sprintf("Regret per visit before and after the change, means over %d seeds (standard errors); %d visits. %s",
                   seeds, visits, "Written by `bench/changes_binary.R`."))
for (name in names(cases)) {
  rates <- cases[[name]]
  lines <- c(lines, "", sprintf("## %s: %s, then %s", name, toString(rates[[1]]), toString(rates[[2]])), "",
             "| method | before | after | ms a visit |", "| :--- | ---: | ---: | ---: |")
  means <- list()
  for (method in names(methods)) {
    time <- system.time(halves <- vapply(seq_len(seeds), function(seed) {
      set.seed(seed)
      regret <- regret_of(methods[[method]](length(rates[[1]])), rates)
      c(mean(utils::head(regret, visits / 2)), mean(utils::tail(regret, visits / 2)))
    }, c(0, 0)))
    spent <- sum(time[c("user.self", "sys.self")]) / seeds / visits * 1000
    means[[method]] <- rowMeans(halves)
    shown <- sprintf("%.4f (%.4f)", rowMeans(halves), apply(halves, 1, stats::sd) / sqrt(seeds))
    lines <- c(lines, sprintf("| %s | %s | %s | %.2f |", method, shown[1], shown[2], spent))
    message(utils::tail(lines, 1))
  }
  beta <- pmin(means[["Beta-TS, discount 0.99"]], means[["Beta-TS, discount 0.995"]])
  ratio <- means[["GP-TS, changes = \"auto\""]] / beta
  line <- "`changes = \"auto\"`: %.2f and %.2f times the better Beta-TS (aim: at most 1.2): %s."
  lines <- c(lines, "", sprintf(line, ratio[1], ratio[2], if (all(ratio <= 1.2)) "met" else "**missed**"))
}
if (file.exists("bench/results")) writeLines(lines, "bench/results/changes_binary.md")
