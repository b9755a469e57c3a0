# Where the definitions of src/core stand, and which folder includes which.
#   Rscript tools/core_files.R
# Prints, and exits with 1 if there is any:
#  * definitions of what another subject's header declares, and headers that therefore lack a .cpp of their name. A
#    large subject may have further files: low_rank_posterior_fit.cpp defines functions of low_rank_posterior.h;
#  * .cpp files without a header; functions that no header declares, outside of unnamed namespaces;
#  * includes against the arrows between folders in src/core/README.md;
#  * base classes of more than `most` virtual functions. The numbers of all base classes come last.

most <- 20
source("tools/cpp_text.R")
core <- "src/core"
files <- list.files(core, "[.](cpp|h)$", recursive = TRUE)
headers <- grep("[.]h$", files, value = TRUE)
units <- grep("[.]cpp$", files, value = TRUE)
parts <- lapply(stats::setNames(nm = files), function(file) cpp_parts(file.path(core, file)))

found <- 0L
report <- function(title, lines) {
  found <<- found + length(lines)
  cat(sprintf("== %s: %s\n", title, if (length(lines)) "" else "nothing found"))
  if (length(lines)) cat(lines, sep = "\n")
}

# The qualified name of a function, from its head: what is before the first parenthesis.
function_name <- function(heads) {
  before <- sub("\\(.*$", "", gsub("<[^<>()]*>", "", gsub("<[^<>()]*>", "", heads)))
  sub("^.*?((?:\\w+ *:: *)*(?:~?\\w+|operator *\\S+)) *$", "\\1", before, perl = TRUE)
}
is_function <- function(heads) {
  grepl("(", heads, fixed = TRUE) & !grepl("^(using|typedef|static_assert|friend|extern)\\b|^,|^[^(]*=", heads)
}

# ---- declarations: functions of the namespace, and classes, by the header that has them ---------------------------

declared <- do.call(rbind, lapply(headers, function(header) {
  outside <- parts[[header]][parts[[header]]$scope == "gpb", ]
  classes <- sub("^.*\\b(class|struct) +(\\w+).*$", "\\2",
                 outside$head[outside$kind == "scope" & grepl("\\b(class|struct)\\b", outside$head)])
  functions <- function_name(outside$head[outside$kind == "statement" & is_function(outside$head)])
  names <- unique(c(classes, functions))
  data.frame(name = names, header = rep(header, length(names)))
}))

# Is this file named for the header, or for a part of its subject?
belongs_to <- function(unit, header) {
  unit <- sub("[.]cpp$", "", unit)
  header <- sub("[.]h$", "", header)
  unit == header | (startsWith(unit, paste0(header, "_")) & !paste0(unit, ".h") %in% headers)
}

definitions <- do.call(rbind, lapply(units, function(unit) {
  all <- parts[[unit]]
  own <- all[all$scope == "gpb" & all$kind == "body" & is_function(all$head) & !grepl("^static\\b", all$head), ]
  data.frame(unit = rep(unit, nrow(own)), line = own$first, name = function_name(own$head))
}))
definitions$subject <- sub(" *::.*$", "", definitions$name)
headers_of <- lapply(definitions$subject, function(name) declared$header[declared$name == name])
is_declared <- lengths(headers_of) > 0
in_class <- grepl("::", definitions$name, fixed = TRUE)
# (A class of the same file, as in a pointer to an implementation, needs no header.)
local_classes <- unlist(lapply(units, function(unit) {
  heads <- parts[[unit]]$head[parts[[unit]]$kind == "scope"]
  paste(unit, sub("^.*\\b(class|struct) +(\\w+).*$", "\\2", heads))
}))
is_local <- in_class & paste(definitions$unit, definitions$subject) %in% local_classes
at_home <- mapply(function(unit, headers) any(belongs_to(unit, headers)), definitions$unit, headers_of)
where <- function(rows) sprintf("%s:%d: %s", definitions$unit[rows], definitions$line[rows], definitions$name[rows])

lost <- which(is_declared & !at_home & !is_local)
report("definitions of what another subject's header declares",
       paste0(where(lost), " (", vapply(headers_of[lost], paste, "", collapse = ", "), ")")[seq_along(lost)])
report("headers that lack a .cpp of their name",
       setdiff(unlist(headers_of[lost]), sub("[.]cpp$", ".h", units)))
report("functions that no header declares", where(which(!is_declared & !is_local)))
report(".cpp files without a header",
       Filter(function(unit) !any(belongs_to(unit, headers)), units))

# ---- includes ------------------------------------------------------------------------------------

# Lines "a --> b --> c" of the README; a folder may include every folder that its arrows lead to.
arrows <- function() {
  lines <- grep("^ *\\w+( --> \\w+)+ *$", readLines(file.path(core, "README.md")), value = TRUE)
  do.call(rbind, lapply(strsplit(trimws(lines), " --> ", fixed = TRUE), function(path) {
    data.frame(from = path[-length(path)], to = path[-1])
  }))
}
reached_from <- function(folder, graph) {
  reached <- folder
  repeat {
    more <- setdiff(graph$to[graph$from %in% reached], reached)
    if (length(more) == 0) return(reached)
    reached <- c(reached, more)
  }
}
graph <- arrows()
upward <- unlist(lapply(files, function(file) {
  lines <- grep("^#include \"", readLines(file.path(core, file)), value = TRUE)
  included <- sub("^#include \"([^\"]+)\".*$", "\\1", lines)
  wrong <- included[!dirname(included) %in% reached_from(dirname(file), graph)]
  sprintf("%s includes %s", file, wrong)[seq_along(wrong)]
}))
report("includes against the arrows of src/core/README.md", upward)

# ---- virtual functions ---------------------------------------------------------------------------

bases <- do.call(rbind, lapply(headers, function(header) {
  all <- parts[[header]]
  virtual <- all[grepl("\\bvirtual\\b[^~(]*\\(", all$head), ]
  if (nrow(virtual) == 0) return(NULL)
  count <- table(sub("^.*/", "", virtual$scope))
  data.frame(header, class = names(count), functions = as.integer(count))
}))
bases <- bases[order(-bases$functions), ]
large <- bases[bases$functions > most, ]
report(sprintf("base classes of more than %d virtual functions", most),
       sprintf("%s: %s has %d", large$header, large$class, large$functions))
cat("\nVirtual functions of base classes, without destructors:\n")
cat(sprintf("%4d  %s (%s)", bases$functions, bases$class, bases$header), sep = "\n")
quit(status = if (found) 1 else 0)
