# Help page: compatibility of files between versions. Layer: bandit.

#' What stays readable, what stays callable
#'
#' A campaign may outlive a version of this package. Here is what is promised to whoever keeps one, and what nobody but
#' the reader can do: backups, and deleting what must be deleted.
#'
#' @section What reads what: each file names its format, and a later version of the package reads every format that a
#'   release has written, since 0.1.0. What is newer than the package is refused with an error that says so, and left as
#'   it is. Files of 0.1.0 are kept among the package's tests, which read them, go on with them, and compare what is
#'   chosen next.
#'
#'   \tabular{llll}{
#'     what \tab written by \tab read by \tab format \cr
#'     a saved bandit \tab [saveRDS()] \tab [readRDS()] \tab 2 (0 and 1, of development versions, are read too) \cr
#'     a journal \tab `journal = "file"` \tab [open_bandit()] \tab 3 (1 and 2, of development versions, are refused:
#'       opening them would run code) \cr
#'     a store's tables \tab [bandit_store()] \tab [open_bandit()], [work_on()], [bandit_service()] \tab schema 1 \cr
#'     JSON \tab [as_json()] \tab [from_json()] \tab schema 1 \cr
#'   }
#'
#'   What comes back has the same log and the same posterior. Its next choices are those of the version that reads it: a
#'   release may choose better than the one before, and its NEWS says where. Within a version they are the same to the
#'   bit on one machine and, up to ties within rounding, everywhere. What was found by [maximize_bandit()] and the
#'   results of [run_bandit()] are R objects to look at; their `bandit` is a saved bandit.
#'
#'   Journals and stores hold text and numbers; functions of your own (a kernel, a width, a policy) are only in them
#'   with `trust = TRUE`, and need R and the packages that they call. JSON holds no functions at all: it is what to keep
#'   for many years. [compact_log()] writes events like any other: a file that it made shorter is read by whatever read
#'   it before. (With `keep` it writes a kind of event that there was not at first: versions from before that call such
#'   a file damaged.)
#'
#' @section What stays callable: names, arguments and columns of exported functions. What is to go is deprecated in one
#'   release, where it works as before and warns, once in a session, with a condition of class `gpbandits_deprecated`
#'   that names what to write instead, and is removed a year and one release later at the earliest. New arguments have
#'   defaults under which nothing changes. Classes of conditions (`gpbandits_error` and the others) stay. Internal
#'   functions, wordings of messages and prints, and the fields of objects that no help page names may change at any
#'   time. Until 1.0 a release may break one of these rules where a result would else be wrong; NEWS then says it first.
#'
#' @section What to back up:
#'   * a saved bandit, a JSON text: the file.
#'   * a journal: the file; at any moment, for a last line that is not whole is dropped when it is opened.
#'   * a store on SQLite: while anybody works on it not by copying the file, but by `VACUUM INTO 'copy.db'` or SQLite's
#'     `.backup`; else the file, with those called like it that end in `-wal` and `-shm` where they are there.
#'   * a store on PostgreSQL: `pg_dump` of the tables `gpb_*` in one go (they refer to each other), or the server's own
#'     backups.
#'   * besides: your functions, and the version of this package (`packageVersion("gpbandits")`).
#'
#'   A backup that is put back is an earlier state: what was asked since is asked again, and workers that still hold
#'   tokens of the later state are refused.
#'
#' @section Deleting a person's data: a log is a history; nothing is taken out of its middle, since all that came later
#'   was chosen by it. So put nothing into it that may have to go: contexts are numbers that describe, not names or
#'   addresses; who it was stays in a table of yours, by the query's `id`, where it can be deleted. Texts that are kept:
#'   names of workers in a store, and reasons of `$fail()` and `$withdraw()`. Rows of the store's table `gpb_lease` may
#'   be emptied of names once their queries are answered or given up
#'   (`UPDATE gpb_lease SET worker = NULL WHERE query = 7 AND bandit = 1`). A reason is part of the log and stays, so
#'   write nothing personal into it. A result that must be forgotten: make the bandit anew from what may stay,
#'   `new$add()` of the rows of `old$history()` that are left, and delete the old one with its backups: the file, or in
#'   a store all rows of its `bandit` in the tables `gpb_*` (and then `VACUUM`: a database keeps deleted rows on the
#'   disk until then). A posterior computed from data that were deleted since still knows them.
#'
#' @section What two writers do:
#'   * two copies of a saved bandit are two bandits; neither hears of the other.
#'   * a journal has one writer: of two who write at once one is refused, and whoever opened it last has it
#'     ([open_bandit()]).
#'   * a store has as many as you like: each change is a transaction, a query is given to one worker at a time
#'     ([bandit_store()]), and of two rewards for one query the first counts, the same again changes nothing, and
#'     another one is refused.
#'   * two versions of the package on one store: both work as long as they know the same schema; use what is new in the
#'     later one only when all have it.
#' @seealso [as_json()], [open_bandit()], [bandit_store()].
#' @examples
#' b <- gp_ucb(1:9 / 9, kernel_se(0.3), noise_var = 0.1)
#' b$observe(b$suggest()$id, 0.5)
#' # For the archive: text, and the version that wrote it.
#' archive <- as_json(b)
#' substr(archive, 1, 75)
#' # All but the first result, in a bandit of their own:
#' left <- b$history()[-1, ]
#' new <- gp_ucb(1:9 / 9, kernel_se(0.3), noise_var = 0.1)
#' if (nrow(left)) new$add(arm = left$arm, reward = left$reward)
#' @name compatibility
NULL
