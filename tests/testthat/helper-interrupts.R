# Interrupts and errors at every statement of the package's own R code.

# `code` with a call of tick() before every statement, in functions within functions too.
with_ticks <- function(code, tick) {
  if (is.function(code)) {
    body(code) <- as.call(list(as.name("{"), tick, with_ticks(body(code), tick)))
    return(code)
  }
  if (!is.call(code)) return(code)
  if (identical(code[[1]], as.name("function"))) {
    code[[3]] <- as.call(list(as.name("{"), tick, with_ticks(code[[3]], tick)))
    return(code)
  }
  at <- setdiff(which(!vapply(as.list(code), identical, NA, quote(expr = ))), 1)
  for (k in at) if (is.call(code[[k]])) code[[k]] <- with_ticks(code[[k]], tick)
  if (!identical(code[[1]], as.name("{"))) return(code)
  statements <- as.list(code)[-1]
  as.call(c(as.name("{"), unlist(lapply(statements, function(one) list(tick, one)), recursive = FALSE)))
}

# Calls test(clock) while the package's functions of these names have ticks. clock(code, strike, at) evaluates
# code(), calls strike() at the statement of number `at`, and returns how many statements there were.
with_clock <- function(names, test) {
  skip_if(ignores_interrupts(), "this process was started with interrupts ignored")
  space <- asNamespace("gpbandits")
  count <- 0
  at <- Inf
  strike <- NULL
  tick <- function() {
    count <<- count + 1
    if (count == at) strike()
  }
  put <- function(functions) for (name in names) {
    unlockBinding(name, space)
    assign(name, functions[[name]], envir = space)
    lockBinding(name, space)
  }
  old <- mget(names, envir = space)
  # (R would compile each of them for the few calls until they are back, for up to half of the time.)
  jit <- compiler::enableJIT(0)
  on.exit({
    put(old)
    compiler::enableJIT(jit)
  })
  put(lapply(old, with_ticks, tick = as.call(list(tick))))
  test(function(code, what = NULL, when = Inf) {
    count <<- 0
    strike <<- what
    at <<- when
    on.exit(at <<- Inf)
    code()
    count
  })
}

# What may strike: a real Ctrl-C, and an error such as one for want of memory.
strikes <- list(
  interrupt = function() {
    tools::pskill(Sys.getpid(), tools::SIGINT)
    Sys.sleep(0)                                      # checks for interrupts, if they are not suspended
  },
  error = function() stop("struck")
)

# As R-devel does if it was started by nohup in the background (R 4.2 does not).
ignores_interrupts <- function() {
  tryCatch({
    strikes$interrupt()
    TRUE
  }, interrupt = function(i) FALSE)
}

# How code() ends if `strike` strikes at statement k.
struck <- function(clock, strike, k, code) {
  tryCatch({
    clock(code, strike, k)
    Sys.sleep(0)                                      # an interrupt that waited
    "finished"
  }, interrupt = function(i) "interrupt", error = function(e) {
    # (What strikes a check of the whole bandit is reported as damage.)
    if (grepl("(^|: )struck\\.?$", conditionMessage(e))) "error" else paste("another error:", conditionMessage(e))
  })
}
