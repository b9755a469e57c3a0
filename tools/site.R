# Builds the site into build/site (pkgdown, no network needed), then looks at it:
#   Rscript tools/site.R           build and check
#   Rscript tools/site.R check     check only
# Beside every article lies its Markdown, and llms.txt lists them, for programs that read text.
# Every page's links and pictures must lead to files that are there; headless Chromium opens the home page, an article
# and a reference page and must have drawn all their pictures.
site <- "build/site"

# Formulas as MathML, which needs no script from elsewhere. (pkgdown 2.1 reads that from _pkgdown.yml; before it has no such
# setting, and leaves them to a script.)
write_mathml <- function() {
  if (utils::packageVersion("pkgdown") >= "2.1.0") return(invisible())
  format <- utils::getFromNamespace("build_rmarkdown_format", "pkgdown")
  utils::assignInNamespace("build_rmarkdown_format", function(...) {
    out <- format(...)
    pre_processor <- out$pre_processor
    out$pre_processor <- function(...) {
      args <- pre_processor(...)
      replace(args, args == "--mathjax", "--mathml")
    }
    out
  }, "pkgdown")
}

# (Where there is a logo, pkgdown would have a service in the network make small ones of it.)
build <- function() {
  write_mathml()
  utils::assignInNamespace("build_favicons", function(...) invisible(), "pkgdown")
  options(pkgdown.internet = FALSE)
  unlink(site, recursive = TRUE)
  pkg <- pkgdown::as_pkgdown(".")
  pkg$meta$reference <- c(pkg$meta$reference, other_pages(pkg$meta$reference))
  pkg$meta$articles <- c(pkg$meta$articles, other_articles(pkg$meta$articles))
  pkg$meta$navbar <- navigation(pkg$meta$articles, pkg$vignettes)
  pkgdown::build_site(pkg, install = FALSE, new_process = FALSE, preview = FALSE, devel = FALSE)
  mend_pages()
  write_formulas()
  write_texts(pkg)
}

# The navigation bar: a menu for each group of articles (a link, if there is one article), the reference, the changelog.
navigation <- function(articles, pages) {
  link <- function(name) {
    page <- pages[match(name, pages$name), ]
    list(text = page$title, href = as.character(page$file_out))
  }
  entries <- lapply(articles, function(group) {
    links <- lapply(group$contents, link)
    if (length(links) == 1) list(text = group$title, href = links[[1]]$href) else list(text = group$title, menu = links)
  })
  names(entries) <- paste0("group", seq_along(entries))
  list(structure = list(left = c(names(entries), "reference", "news"), right = "search"), components = entries)
}

# ---- formulas of help pages -------------------------------------------------------------

# pkgdown leaves formulas of help pages as TeX, \(inline\) and $$displayed$$, to a script from elsewhere. Here pandoc makes
# MathML of them, all in one call: each formula is a paragraph of its own.
tex <- "(?s)<pre.*?</pre>(*SKIP)(*FAIL)|\\\\[(].*?\\\\[)]|[$][$].*?[$][$]"

mathml_of <- function(formulas) {
  plain <- gsub("\\s+", " ", gsub("&lt;", "<", gsub("&gt;", ">", gsub("&amp;", "&", formulas, fixed = TRUE))))
  displayed <- startsWith(plain, "$$")
  plain <- trimws(substr(plain, 3, nchar(plain) - 2))
  input <- tempfile(fileext = ".md")
  output <- tempfile(fileext = ".html")
  on.exit(unlink(c(input, output)))
  writeLines(paste0(ifelse(displayed, "$$", "$"), plain, ifelse(displayed, "$$", "$"), "\n"), input, useBytes = TRUE)
  rmarkdown::pandoc_convert(input, from = "markdown", to = "html", output = output,
                            options = c("--mathml", "--wrap=none"))
  html <- grep("^<p>.*</p>$", readLines(output, warn = FALSE, encoding = "UTF-8"), value = TRUE)
  stopifnot(length(html) == length(formulas))
  sub("^<p>(.*)</p>$", "\\1", html)
}

write_formulas <- function() {
  pages <- list.files(file.path(site, "reference"), "[.]html$", full.names = TRUE)
  texts <- lapply(pages, function(page) paste(readLines(page, warn = FALSE, encoding = "UTF-8"), collapse = "\n"))
  found <- lapply(texts, function(text) gregexpr(tex, text, perl = TRUE)[[1]])
  formulas <- unique(unlist(Map(function(text, at) regmatches(text, list(at)), texts, found)))
  if (!length(formulas)) return(invisible())
  converted <- stats::setNames(mathml_of(formulas), formulas)
  for (k in seq_along(pages)) {
    if (found[[k]][1] == -1) next
    old <- regmatches(texts[[k]], list(found[[k]]))[[1]]
    regmatches(texts[[k]], list(found[[k]])) <- list(unname(converted[old]))
    writeLines(texts[[k]], pages[k], useBytes = TRUE)
  }
  left <- sum(!grepl("<math", converted, fixed = TRUE))
  cat("site:", length(formulas), "formulas of help pages,", left, "of them not MathML\n")
}

# ---- the same as text -------------------------------------------------------------------

# The main part of a page as Markdown, by pandoc.
as_markdown <- function(page) {
  html <- paste(readLines(page, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
  main <- regmatches(html, regexpr("(?s)<main.*?</main>", html, perl = TRUE))
  if (!length(main)) return(invisible())
  input <- tempfile(fileext = ".html")
  writeLines(main, input, useBytes = TRUE)
  rmarkdown::pandoc_convert(input, from = "html-native_divs-native_spans", to = "gfm-raw_html",
                            output = file.path(normalizePath(dirname(page)), sub("[.]html$", ".md", basename(page))),
                            options = "--wrap=none")
}

title_of <- function(page) {
  head <- grep("<title>", readLines(page, 60, warn = FALSE, encoding = "UTF-8"), value = TRUE)[1]
  sub(" . gpbandits$", "", sub(".*<title>(.*)</title>.*", "\\1", head))
}

write_texts <- function(pkg) {
  articles <- setdiff(list.files(file.path(site, "articles"), "[.]html$", full.names = TRUE), file.path(site, "articles", "index.html"))
  for (page in c(articles, file.path(site, "reference", "index.html"))) as_markdown(page)
  line <- function(page) sprintf("- [%s](articles/%s)", title_of(page), sub("html$", "md", basename(page)))
  writeLines(c("# gpbandits", "", paste(">", gsub("\\s+", " ", pkg$desc$get_field("Description"))), "",
               "Rewards are maximised. Ask `$suggest()`, tell `$observe(id, reward)`, read `$best()`. Errors are of class `gpbandits_error`.", "",
               "## Articles", "", vapply(articles, line, ""), "", "## Reference", "",
               "- [All functions, by purpose](reference/index.md)", "- [On one page](reference/figures/cheatsheet.svg)"),
             file.path(site, "llms.txt"), useBytes = TRUE)
}

# Where there is no logo, pkgdown's pages ask for a picture without an address. And it moves pictures of man/figures, but
# not links to them.
mend_pages <- function() {
  for (page in list.files(site, "[.]html$", recursive = TRUE, full.names = TRUE)) {
    lines <- readLines(page, warn = FALSE)
    mended <- gsub("<img src=\"\" class=\"logo\" alt=\"\">", "", lines, fixed = TRUE)
    mended <- gsub("href=\"man/figures/", "href=\"reference/figures/", mended, fixed = TRUE)
    mended <- gsub("<code><a href=\"gpbandits-package.html\">_PACKAGE</a></code>", "", mended, fixed = TRUE)
    mended <- with_contents(mended)
    if (!identical(lines, mended)) writeLines(mended, page)
  }
}

# "On this page", which a script from elsewhere would fill in: written here, without it.
with_contents <- function(lines) {
  nav <- grep("<nav id=\"toc\"", lines, fixed = TRUE)
  text <- paste(lines, collapse = "\n")
  found <- regmatches(text, gregexpr("(?s)<h[23][^>]*>(?:(?!</h[23]>).)*href=\"#[^\"]*\".*?</h[23]>", text, perl = TRUE))[[1]]
  found <- grep("On this page", found, invert = TRUE, value = TRUE, fixed = TRUE)
  if (length(nav) != 1 || !length(found)) return(lines)
  to <- sub("(?s).*?href=\"#([^\"]*)\".*", "\\1", found, perl = TRUE)
  words <- trimws(gsub("\\s+", " ", gsub("<[^>]*>", "", found)))
  entry <- sprintf("<li class=\"%s\"><a class=\"nav-link\" href=\"#%s\">%s</a></li>",
                   ifelse(startsWith(found, "<h3"), "ps-3", ""), to, words)
  lines[nav] <- sub("<nav id=\"toc\"[^>]*>(<h2>On this page</h2>)?",
                    paste0("<nav id=\"contents\" aria-label=\"On this page\"><h2>On this page</h2><ul class=\"list-unstyled small\">",
                           paste(entry, collapse = ""), "</ul>"), lines[nav])
  lines
}

listed_in <- function(sections) unlist(lapply(sections, `[[`, "contents"))

further <- function(pages) if (length(pages)) list(list(title = "Further pages", contents = pages))

other_articles <- function(articles) {
  there <- sub("[.]Rmd$", "", list.files("vignettes", "[.]Rmd$", recursive = TRUE))
  further(setdiff(there, listed_in(articles)))
}

# Help pages and articles that are not listed yet: pkgdown would refuse to go on without them.
other_pages <- function(reference) {
  listed <- listed_in(reference)
  pages <- list.files("man", "[.]Rd$", full.names = TRUE)
  missing <- Filter(function(page) {
    lines <- readLines(page)
    named <- sub("^.alias[{](.*)[}]$", "\\1", grep("^.alias[{]", lines, value = TRUE))
    !any(named %in% listed) && !any(grepl("keyword[{]internal", lines))
  }, pages)
  further(sub("[.]Rd$", "", basename(missing)))
}

# Addresses in a page, without those of other sites.
addresses <- function(html) {
  found <- regmatches(html, gregexpr("(href|src)=\"[^\"]*\"", html))
  found <- sub("\"$", "", sub("^[a-z]+=\"", "", unlist(found)))
  found <- found[!grepl("^([a-z]+:|//|#|$)", found)]
  unique(sub("[#?].*$", "", found))
}

dead_connections <- function(page) {
  to <- addresses(readLines(page, warn = FALSE))
  to[!file.exists(file.path(dirname(page), vapply(to, utils::URLdecode, "")))]
}

check_connections <- function() {
  pages <- setdiff(list.files(site, "[.]html$", recursive = TRUE, full.names = TRUE), file.path(site, "404.html"))
  dead <- lapply(stats::setNames(pages, pages), dead_connections)
  dead <- dead[lengths(dead) > 0]
  for (page in names(dead)) cat("site:", page, "has dead links:", dead[[page]], "\n")
  cat("site:", length(pages), "pages,", sum(lengths(dead)), "dead internal links\n")
  length(dead) == 0
}

# A copy of the page beside it, with a script that counts the site's own pictures once all is loaded.
pictures_in_browser <- function(browser, page) {
  copy <- sub("[.]html$", "-checked.html", page)
  on.exit(unlink(copy))
  script <- paste0("<script>window.addEventListener('load', function() { var all = Array.from(document.images)",
                   ".filter(function(i) { return !/^http/.test(i.getAttribute('src')); });",
                   "var out = document.createElement('p'); out.id = 'pictures'; out.textContent = 'pictures ' + all.length + ",
                   "' broken ' + all.filter(function(i) { return i.naturalWidth === 0; }).length;",
                   "document.body.appendChild(out); });</script></body>")
  writeLines(sub("</body>", script, readLines(page, warn = FALSE), fixed = TRUE), copy)
  dom <- suppressWarnings(system2(browser, c("--headless", "--no-sandbox", "--disable-gpu", "--timeout=20000", "--dump-dom",
                                             paste0("file://", normalizePath(copy))), stdout = TRUE, stderr = FALSE))
  said <- regmatches(dom, regexpr("pictures [0-9]+ broken [0-9]+", dom))
  if (length(said)) said[1] else "no answer"
}

check_in_browser <- function() {
  browser <- Filter(nzchar, Sys.which(c("chromium", "chromium-browser", "google-chrome")))
  if (!length(browser)) {
    cat("site: no Chromium here: pages are not opened\n")
    return(TRUE)
  }
  pages <- file.path(site, c("index.html", "articles/gpbandits.html", "reference/gp_ucb.html"))
  said <- vapply(pages, function(page) pictures_in_browser(browser[[1]], page), "")
  cat(sprintf("site: %s: %s\n", pages, said), sep = "")
  all(grepl("broken 0$", said))
}

if (!identical(commandArgs(TRUE), "check")) build()
good <- c(check_connections(), check_in_browser())
quit(status = if (all(good)) 0 else 1)
