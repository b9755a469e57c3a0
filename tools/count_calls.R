# Calls along six roads through the package: R functions, files of R/, changes of file, crossings from R to C++.
#   Rscript tools/count_calls.R [--list=ROAD]    (in the repository, gpbandits installed)
# A line per road. `calls` are those of the package's own functions, `crossings` those of its C++ entries (cpp_*), which
# are not among the calls; functions inside functions belong to those that hold them. With --list the calls of one road
# are printed in their order instead, indented by depth.
# Each function gets a note of the call as the first expression of its body: frames, missing arguments, `...` and
# sys.function() stay as they are.

options <- commandArgs(TRUE)
listed <- sub("^--list=", "", grep("^--list=", options, value = TRUE))
suppressMessages(library(gpbandits))
namespace <- asNamespace("gpbandits")

# ---- which file a function is from -----------------------------------------------------------

sources <- list.files("R", "[.]R$", full.names = TRUE)
if (!length(sources)) stop("run this in the repository: there is no R/ here")
file_of <- list()
for (source in sources) {
  for (expression in as.list(parse(source, keep.source = FALSE))) {
    assigns <- is.call(expression) && as.character(expression[[1]])[1] == "<-" && is.name(expression[[2]])
    if (assigns) file_of[[as.character(expression[[2]])]] <- basename(source)
  }
}

# ---- notes of calls -----------------------------------------------------------------------------

noted <- new.env()
noted$names <- character()
noted$depths <- integer()
noted$on <- FALSE

note <- function(name) {
  if (!noted$on) return(invisible())
  noted$names <- c(noted$names, name)
  noted$depths <- c(noted$depths, sys.nframe())
}

with_note <- function(f, name) {
  if (!is.function(f) || is.primitive(f)) return(f)
  attributes <- attributes(f)
  body(f) <- as.call(list(as.name("{"), as.call(list(note, name)), body(f)))
  attributes(f) <- attributes[setdiff(names(attributes), "srcref")]
  f
}

put <- function(name, value, frame) {
  locked <- bindingIsLocked(name, frame)
  if (locked) unlockBinding(name, frame)
  assign(name, value, envir = frame)
  if (locked) lockBinding(name, frame)
}

is_trusted <- function(f) is.function(f) && !is.primitive(f) && !isS4(f) && identical(environment(f), namespace)

# Functions of a list and of the lists in it: what files have registered.
noted_list <- function(x, name) {
  for (k in seq_along(x)) {
    inner <- paste0(name, "$", names(x)[k])
    if (is_trusted(x[[k]])) x[[k]] <- with_note(x[[k]], inner)
    else if (is.list(x[[k]]) && !is.object(x[[k]])) x[[k]] <- noted_list(x[[k]], inner)
  }
  x
}

own <- Filter(function(name) is_trusted(get(name, envir = namespace)), ls(namespace, all.names = TRUE))
for (registry in c("families", "scripts", "bandit_kinds", "databases")) {
  frame <- get(registry, envir = namespace)
  for (name in ls(frame)) put(name, noted_list(list(frame[[name]]), name)[[1]], frame)
}
for (name in own) put(name, with_note(get(name, envir = namespace), name), namespace)
methods_table <- namespace[[".__S3MethodsTable__."]]
for (name in intersect(ls(methods_table), own)) put(name, get(name, envir = namespace), methods_table)
for (class in c("GPBandit", "ScriptedBandit")) {
  methods <- getRefClass(class, where = namespace)$def@refMethods
  for (name in ls(methods)) {
    method <- methods[[name]]
    if (methods::is(method, "refMethodDef") && method@refClassName %in% c("GPBandit", "ScriptedBandit")) {
      method@.Data <- with_note(method@.Data, paste0("method$", name))
      assign(name, method, envir = methods)
    }
  }
}

# ---- the roads ------------------------------------------------------------------------------------

counted <- function(code) {
  noted$names <- character()
  noted$depths <- integer()
  noted$on <- TRUE
  on.exit(noted$on <- FALSE)
  force(code)
  noted$on <- FALSE
  data.frame(name = noted$names, depth = noted$depths)
}

file_of_call <- function(name) {
  if (startsWith(name, "method$")) return("bandit-class.R")
  # (Of what is registered the file is that of the function that does the same; else it is not known.)
  found <- file_of[[name]]
  if (is.null(found)) NA_character_ else found
}

box <- list(x = c(0, 1), y = c(0, 1))
f <- function(q) sin(5 * q$x) - (q$y - 0.4)^2

late_reward <- function() {
  b <- gp_ei(box, kernel_matern(2.5, 0.3), noise_var = 0.01)
  for (k in 1:6) b$suggest()
  for (id in 1:3) b$observe(id, 0.1 * id, noise_var = 0.02)
  counted(b$observe(5, 0.3, noise_var = 0.02))
}

suggest_outcomes <- function() {
  b <- gp_ei(box, kernel_matern(2.5, 0.3), noise_var = 0.01, pending = pending_hallucinate(),
             outcomes = list(yield = to_maximize(), impurity = at_most(0.5)))
  for (k in 1:4) {
    q <- b$suggest()
    b$observe(data.frame(id = q$id, yield = f(q), impurity = q$x))
  }
  b$suggest(4)
  counted(b$suggest(4))
}

# A table of the suggested queries with a column for each outcome.
observe_outcomes <- function() {
  b <- gp_ei(box, kernel_matern(2.5, 0.3), noise_var = 0.01, pending = pending_hallucinate(),
             outcomes = list(yield = to_maximize(), impurity = at_most(0.5)))
  with_results <- function(q) cbind(q, yield = f(q), impurity = q$x)
  b$observe(with_results(b$suggest()))
  q <- with_results(b$suggest(4))
  counted(b$observe(q))
}

# A query before which a refit falls due.
suggest_refit <- function(b) {
  is_due <- utils::getFromNamespace("is_refit_due", "gpbandits")
  for (k in 1:40) {
    if (k > 9 && is_due(as.environment(b), 1)) return(counted(b$suggest()))
    q <- b$suggest()
    b$observe(q$id, f(q))
  }
  stop("no refit fell due in 40 rounds")
}

one_model <- function() gp_ei(box, kernel_matern(2.5, 0.3), noise_var = 0.01, refit = refit_every(5))

posterior_of_store <- function() {
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  make <- function() gp_ei(box, kernel_matern(2.5, 0.3), noise_var = 0.01, store = bandit_store(con, "counted"))
  b <- make()
  for (k in 1:3) b$observe(b$suggest()$id, 0.1)
  other <- open_bandit(bandit_store(con, "counted"))
  other$posterior(c(0.5, 0.5))
  b$observe(b$suggest()$id, 0.2)
  counted(other$posterior(c(0.5, 0.5)))
}

making <- function() {
  gp_ei(box, kernel_matern(2.5, 0.3), noise_var = 0.01)
  counted(gp_ei(box, kernel_matern(2.5, 0.3), noise_var = 0.01))
}

roads <- list("late reward with its own noise" = late_reward, "suggest(4) of two outcomes" = suggest_outcomes,
              "table of two outcomes" = observe_outcomes,
              "suggest that refits" = function() suggest_refit(one_model()),
              "auto_bandit() that refits" = function() suggest_refit(auto_bandit(box, n_initial = 6)),
              "store's row to the posterior" = posterior_of_store, "making a bandit" = making)

for (road in names(roads)) {
  set.seed(1)
  calls <- roads[[road]]()
  crosses <- startsWith(calls$name, "cpp_")
  if (length(listed)) {
    indent <- strrep(" ", pmax(0, calls$depth - min(calls$depth)))
    if (startsWith(road, listed)) cat(paste0(indent, calls$name), sep = "\n")
    next
  }
  files <- vapply(calls$name[!crosses], file_of_call, "")
  files <- files[!is.na(files)]
  cat(sprintf("%-32s %5d calls  %3d files  %4d changes of file  %3d crossings\n", road, sum(!crosses),
              length(unique(files)), sum(utils::head(files, -1) != utils::tail(files, -1)), sum(crosses)))
}
