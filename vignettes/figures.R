# The look of all articles' pictures: antialiased, and in the package's vignettes with few colours, so that they stay small.
# On the site (pkgdown sets IN_PKGDOWN) the same pictures come at twice the resolution with all their colours.

# The colours of `all` (rows: red, green, blue in 0..255) that show best what all of them show, each seen `times`:
# the commonest, then always the one that is most wrong yet; then a few steps of k-means.
few_colours <- function(all, times, n) {
  distances <- function(centre) colSums((t(all) - centre)^2)
  chosen <- which.max(times)
  nearest <- distances(all[chosen, ])
  while (length(chosen) < n && max(nearest) > 0) {
    chosen <- c(chosen, which.max(nearest * sqrt(times)))
    nearest <- pmin(nearest, distances(all[chosen[length(chosen)], ]))
  }
  palette <- all[chosen, , drop = FALSE]
  for (step in 1:4) {
    group <- closest(all, palette)
    moved <- rowsum(all * times, group) / drop(rowsum(times, group))
    palette[as.integer(rownames(moved)), ] <- moved
  }
  palette[1, ] <- all[chosen[1], ]                       # the background stays as it is
  round(palette)
}
closest <- function(all, palette) {
  max.col(2 * tcrossprod(all, palette) - rep(rowSums(palette^2), each = nrow(all)), ties.method = "first")
}

# A PNG file drawn again in `n` colours. R writes a picture of at most 256 colours with a palette, a byte a pixel.
draw_in_few_colours <- function(file, n = 24) {
  if (!requireNamespace("png", quietly = TRUE)) return(file)
  pixels <- png::readPNG(file)
  size <- dim(pixels)
  codes <- round(255 * matrix(pixels[, , 1:3], ncol = 3))
  key <- drop(codes %*% c(65536, 256, 1))
  distinct <- which(!duplicated(key))
  times <- tabulate(match(key, key[distinct]))
  palette <- few_colours(codes[distinct, , drop = FALSE], times, n)
  shown <- rgb(palette, maxColorValue = 255)[closest(codes[distinct, , drop = FALSE], palette)]
  small <- tempfile(fileext = ".png")
  grDevices::png(small, size[2], size[1], type = "cairo", antialias = "none")
  grid::grid.raster(matrix(shown[match(key, key[distinct])], size[1]), width = 1, height = 1, interpolate = FALSE)
  grDevices::dev.off()
  if (file.size(small) < file.size(file)) file.copy(small, file, overwrite = TRUE)
  unlink(small)
  file
}

# Options of all chunks and the margins of every plot; to be called in an article's first chunk. Pictures are nearly as
# wide as the page (730 pixels), so that they are small and hardly scaled.
article_look <- function(width, height, margins = c(3.6, 4.2, 2, 0.8), labels = c(2.4, 0.6, 0)) {
  site <- identical(Sys.getenv("IN_PKGDOWN"), "true")
  knitr::opts_chunk$set(collapse = TRUE, comment = "#>", fig.width = width, fig.height = height, out.width = "100%",
                        dpi = if (site) 1460 / width else 620 / width, dev = "png", look = TRUE,
                        dev.args = list(type = "cairo", antialias = "gray", pointsize = 11),
                        fig.process = if (!site) function(file) draw_in_few_colours(file))
  knitr::knit_hooks$set(look = function(before, ...) {
    if (before) graphics::par(mar = margins, mgp = labels, las = 1, bty = "n")
  })
}

# ---- a paper's page ----------------------------------------------------------------------------------------------------
# Each paper has a short vignette in the package and a long article on the site, NAME-in-full; vignettes/shown/NAME.R has the
# pictures and tables that both show.

# The rows are c(what of the paper, where, result); links lead to sections of the long article.
at_a_glance <- function(..., in_full) {
  rows <- rbind(...)
  if (!in_full) rows[, 2] <- gsub("[[](above|below)[]][(]#[^)]*[)]", "long article", rows[, 2])
  knitr::kable(rows, col.names = c("paper", "where", "result"))
}

# Where the long article is: a link on the site, else its source.
long_article <- function(name) {
  if (identical(Sys.getenv("IN_PKGDOWN"), "true")) sprintf("[long article](%s-in-full.html)", name)
  else sprintf("long article on the package's site (source: `vignettes/articles/%s-in-full.Rmd`)", name)
}

# A table that vignettes/precompute has made.
stored_table <- function(name) {
  read.csv(system.file("extdata", paste0(name, ".csv.xz"), package = "gpbandits"), comment.char = "#")
}
