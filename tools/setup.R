# Installs what a target of the Makefile needs and the machine does not have.
#   Rscript tools/setup.R demo|test|check|vignettes|site|coverage|document|lint|bench
# Debian's own binaries where R is Debian's and we are root, CRAN for the rest.
# What DESCRIPTION imports must be there in the end; what it suggests is tried.

say <- function(...) cat("setup: ", sprintf(...), "\n", sep = "")

# Packages named in a field of DESCRIPTION, without R itself and base packages.
named_in <- function(fields) {
  d <- read.dcf("DESCRIPTION", fields = fields)
  entries <- unlist(strsplit(d[!is.na(d)], ","))
  packages <- trimws(sub("\\(.*", "", entries))
  base <- rownames(utils::installed.packages(.Library, priority = "base"))
  setdiff(packages[nzchar(packages)], c("R", base))
}

# Suggested packages of tidymodels: they bring fifty others, a quarter of an hour of compiling where there are no
# binaries. Those of rush, which are of use beside a Redis server only. And those that some tests compare results with.
# Who wants them there installs them; the tests go on without.
too_long <- c("dials", "parsnip", "rsample", "tune", "workflows", "yardstick", "redux", "rush",
              "DiceKriging", "DiceOptim", "GPareto", "gplite")

# What a target cannot do without (required) and what it only gains from.
needs <- function(target) {
  required <- named_in(c("Imports", "LinkingTo"))
  optional <- tools <- character()
  if (target != "demo") optional <- named_in("Suggests")
  if (target == "test") required <- c(required, "testthat")
  # A server for the tests of stores; libpq-dev for RPostgres where Debian has no binary of it.
  if (target == "test") tools <- c("postgresql", if (length(absent("RPostgres"))) "libpq-dev")
  if (target %in% c("check", "vignettes")) tools <- c("pandoc", "qpdf")
  # CI compiles the same files three times: for the tests, the vignettes, the check,
  # and looks at the service's page, which takes a browser
  if (target == "test" && nzchar(Sys.getenv("CI"))) tools <- c(tools, "ccache", "chromium")
  if (target == "vignettes") required <- c(required, "knitr", "rmarkdown")
  if (target == "site") {
    required <- c(required, "knitr", "rmarkdown", "pkgdown")
    tools <- c("pandoc", "chromium")
  }
  if (target == "coverage") required <- c(required, "testthat", "covr")
  if (target == "document") required <- c(required, "roxygen2")
  if (target == "lint") {
    required <- c(required, "lintr")
    optional <- c(optional, "spelling")
    tools <- "cppcheck"
  }
  list(required = unique(required), optional = setdiff(optional, c(required, too_long)), tools = tools,
       left_out = intersect(optional, too_long))
}

absent <- function(packages) packages[!nzchar(vapply(packages, function(p) {
  system.file(package = p)
}, ""))]

# Debian's packages that are not called like a program, and where they put one.
elsewhere <- c(postgresql = "/usr/lib/postgresql/*/bin/postgres", "libpq-dev" = "/usr/bin/pg_config")

absent_tools <- function(tools) {
  found <- vapply(tools, function(tool) {
    nzchar(Sys.which(if (tool == "postgresql") "postgres" else tool)) ||
      (tool %in% names(elsewhere) && length(Sys.glob(elsewhere[[tool]])) > 0)
  }, NA)
  tools[!found]
}

# Debian's r-cran-* fit only Debian's own R; another R would not look there.
apt_usable <- function() {
  .Platform$OS.type == "unix" && nzchar(Sys.which("apt-get")) &&
    identical(system2("id", "-u", stdout = TRUE), "0") &&
    normalizePath(R.home()) == "/usr/lib/R" &&
    system2("dpkg-query", c("-W", "r-base-core"), stdout = FALSE, stderr = FALSE) == 0
}

apt_get <- function(...) {
  status <- system2("apt-get", c("-y", "-qq", "-o", "DPkg::Lock::Timeout=300", ...),
                    stdout = FALSE, stderr = FALSE, stdin = "", env = "DEBIAN_FRONTEND=noninteractive")
  status == 0
}

apt_knows <- function(names) {
  known <- suppressWarnings(system2("apt-cache", c("pkgnames"), stdout = TRUE, stderr = FALSE))
  names[names %in% known]
}

install_with_apt <- function(packages, tools) {
  wanted <- function() apt_knows(c(sprintf("r-cran-%s", tolower(packages)), tools))
  have <- wanted()
  if (length(have) < length(packages) + length(tools)) { # the lists may be missing or old
    apt_get("update")
    have <- wanted()
  }
  if (!length(have)) return(invisible())
  say("apt-get install %s", paste(have, collapse = " "))
  get <- function() apt_get("install", "--no-install-recommends", have)
  if (!get() && apt_get("update")) get()
}

# The library to install into: the first that can be written, else the user's own.
writable_library <- function() {
  own <- Filter(function(p) basename(dirname(p)) != "build", .libPaths())
  can <- own[file.access(own, 2) == 0]
  if (length(can)) return(can[1])
  user <- path.expand(strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep)[[1]][1])
  if (is.na(user) || user %in% c("", "NULL")) user <- path.expand("~/R/library")
  dir.create(user, recursive = TRUE, showWarnings = FALSE)
  .libPaths(c(user, .libPaths()))
  user
}

install_from_cran <- function(packages) {
  repos <- getOption("repos")
  if (is.null(repos) || "@CRAN@" %in% repos) {
    repos["CRAN"] <- "https://cloud.r-project.org"
    options(repos = repos)
  }
  library <- writable_library()
  say("install.packages(%s) into %s", paste(packages, collapse = ", "), library)
  cores <- max(1L, parallel::detectCores(), na.rm = TRUE)
  try(suppressWarnings( # what is still missing afterwards is said by setup()
    utils::install.packages(packages, lib = library, quiet = TRUE, Ncpus = cores)))
}

setup <- function(target) {
  need <- needs(target)
  packages <- function() absent(c(need$required, need$optional))
  if (length(c(packages(), absent_tools(need$tools)))) {
    if (apt_usable()) install_with_apt(packages(), absent_tools(need$tools))
    # one at a time would be slow, but what is suggested must not stop what is required
    if (length(absent(need$required))) install_from_cran(absent(need$required))
    if (length(absent(need$optional))) install_from_cran(absent(need$optional))
  }
  for (lacking in absent(c(need$optional, need$left_out))) say("going on without the suggested package %s", lacking)
  for (lacking in absent_tools(need$tools)) say("going on without %s: please install it yourself", lacking)
  if (length(absent(need$required))) {
    say("cannot go on without %s: please install by hand", paste(absent(need$required), collapse = ", "))
    quit(status = 1)
  }
}

target <- commandArgs(TRUE)
if (length(target) != 1) stop("usage: Rscript tools/setup.R TARGET")
setup(target)
