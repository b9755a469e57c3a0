# Two tuning jobs of real learners through a store: 10-fold loss of rpart (Sonar) and of e1071's svm (Vehicle) by minimize_bandit() with 1, 2
# and 4 mirai daemons; then one worker killed in the middle of an evaluation, and a search ended by Ctrl-C that goes on where it was.
#   Rscript bench/jobs.R [evaluations=40] [workers=1,2,4] [jobs=rpart,svm]
# Packages: rpart, e1071, mlbench, RSQLite, DBI, mirai. Prints the tables of bench/results/jobs.md.
suppressPackageStartupMessages(library(gpbandits))
source("bench/shared/script.R")
args <- arguments(evaluations = "40", workers = "1,2,4", jobs = "rpart,svm", child = "")
count <- numbers(args$evaluations)
lacks <- lacking(c("rpart", "e1071", "mlbench", "RSQLite", "DBI", "mirai"))
if (length(lacks)) stop("needs ", paste(lacks, collapse = ", "))

# ---- the jobs: an objective that notes who evaluated what, and how long the learner took ---------------------------------

domains <- list(
  rpart = search_space(cp = param_real(1e-4, 0.3, log = TRUE), minsplit = param_integer(2, 40), maxdepth = param_integer(1, 15)),
  svm = search_space(cost = param_real(0.01, 1000, log = TRUE), gamma = param_real(1e-4, 3, log = TRUE))
)

# `marks`: a folder. `victim`: the first worker but this process (`main`) that comes by after so many evaluations is killed in the middle of one.
objective_of <- function(job, marks, victim = Inf, main = Sys.getpid()) {
  force(job); force(marks); force(victim); force(main)
  function(p) {
    name <- if (job == "rpart") "Sonar" else "Vehicle"
    where <- new.env()
    utils::data(list = name, package = "mlbench", envir = where)
    data <- where[[name]]
    rows <- nrow(data)
    fold <- rep_len(1:10, rows)[order(sin(seq_len(rows)))]
    began <- proc.time()[["elapsed"]]
    wrong <- vapply(1:10, function(k) {
      train <- data[fold != k, ]
      test <- data[fold == k, ]
      if (k == 5 && Sys.getpid() != main && length(list.files(marks, "^done")) >= victim &&
            dir.create(file.path(marks, "killed"), showWarnings = FALSE)) tools::pskill(Sys.getpid(), tools::SIGKILL)
      fit <- if (job == "rpart") {
        rpart::rpart(Class ~ ., train, control = rpart::rpart.control(cp = p$cp, minsplit = p$minsplit, maxdepth = p$maxdepth, xval = 0))
      } else e1071::svm(Class ~ ., train, cost = p$cost, gamma = p$gamma)
      found <- if (job == "rpart") stats::predict(fit, test, type = "class") else stats::predict(fit, test)
      mean(found != test$Class)
    }, 0)
    writeLines(format(proc.time()[["elapsed"]] - began, digits = 10), tempfile(sprintf("done_%d_", Sys.getpid()), marks))
    mean(wrong)
  }
}

new_marks <- function() {
  marks <- tempfile("marks")
  dir.create(marks)
  marks
}

search <- function(job, workers, file, objective) {
  minimize_bandit(objective, domains[[job]], evaluations = count, workers = workers, store = bandit_store(file, job, seed = 1))
}

# Rows of the table: evaluations a minute; what an evaluation takes beside the learner, a worker's time (`workers` times the clock's, less the
# learners', over the evaluations).
reported <- function(job, workers, seconds, file, marks, what) {
  history <- open_bandit(bandit_store(file, job))$history()
  done <- list.files(marks, "^done", full.names = TRUE)
  learner <- sum(as.double(unlist(lapply(done, readLines))))
  by <- table(sub("^done_([0-9]+)_.*", "\\1", basename(done)))
  line(c(job, what, workers, sprintf("%.0f", seconds), sprintf("%.0f", 60 * length(done) / seconds), sprintf("%.2f", learner / length(done)),
         sprintf("%.2f", (workers * seconds - learner) / length(done)), paste(sort(as.integer(by), decreasing = TRUE), collapse = " + "),
         sprintf("%d known, %d pending, %d evaluated", sum(history$status == "observed"), sum(history$status == "pending"), length(done)),
         sprintf("%.3f", min(history$reward, na.rm = TRUE))))
}

# ---- the child of the last part: a search that its parent interrupts ------------------------------------------------

if (nzchar(args$child)) {
  point <- words(args$child)
  writeLines(as.character(Sys.getpid()), file.path(point[1], "pid"))
  mirai::daemons(2)
  search("rpart", 2, point[2], objective_of("rpart", point[1]))
  mirai::daemons(0)
  quit(save = "no")
}

script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
line(c("job", "what", "workers", "seconds", "evaluations a minute", "learner, s", "beside it, s of a worker", "by worker", "in the store", "least loss"))
line(rep("---", 10))
run <- function(job, workers, what = "whole", victim = Inf) {
  marks <- new_marks()
  file <- tempfile(fileext = ".db")
  if (workers > 1) {
    mirai::daemons(workers)
    on.exit(mirai::daemons(0))
  }
  objective <- objective_of(job, marks, victim)
  seconds <- system.time(suppressWarnings(search(job, workers, file, objective)))[["elapsed"]]
  reported(job, workers, seconds, file, marks, what)
}
for (job in words(args$jobs)) for (workers in numbers(args$workers)) run(job, workers)
run("svm", 2, "one worker killed", victim = count / 3)

marks <- new_marks()
file <- tempfile(fileext = ".db")
began <- proc.time()[["elapsed"]]
system2(file.path(R.home("bin"), "Rscript"), c(script, paste0("evaluations=", count), shQuote(sprintf("child=%s,%s", marks, file))),
        wait = FALSE, stdout = FALSE, stderr = FALSE)
while (length(list.files(marks, "^done")) < count / 3) Sys.sleep(0.02)
tools::pskill(as.integer(readLines(file.path(marks, "pid"))), tools::SIGINT)
Sys.sleep(2)
before <- length(list.files(marks, "^done"))
mirai::daemons(2)
invisible(suppressWarnings(search("rpart", 2, file, objective_of("rpart", marks))))
reported("rpart", 2, proc.time()[["elapsed"]] - began, file, marks, sprintf("Ctrl-C after %d, resumed", before))
mirai::daemons(0)
