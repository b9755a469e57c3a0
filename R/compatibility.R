# Help page: compatibility of files between versions. Layer: bandit.

#' Compatibility between versions
#'
#' Describes which files later versions of the package can read, and which functions and arguments stay.
#'
#' For backups, and the deletion of personal data, see [bandit-backup].
#'
#' @section Files: The first release is 0.9.0, and every file written by 0.9.0 stays readable. Each file names its
#' format. A later version reads every format that a release has written. A file of a newer format than the package
#' knows is an error that says so, and is not changed.
#'
#' \tabular{llll}{
#'   file \tab written by \tab read by \tab format \cr
#'   a saved bandit \tab [saveRDS()] \tab [readRDS()] \tab 3 \cr
#'   a journal \tab `journal = "file"` \tab [open_bandit()] \tab schema 1 \cr
#'   a store's tables \tab [bandit_store()] \tab [open_bandit()], [work_on()], [bandit_service()] \tab schema 1 \cr
#'   JSON \tab [as_json()] \tab [from_json()] \tab schema 1 \cr
#' }
#'
#' Files of unreleased versions can be opened, or end in an error that says so. Saved bandits of formats 0 to 2 can be
#' read, except for kinds of components that exist no longer. Text journals are an error that says how to convert them.
#' The package's tests read files of every kind of bandit, continue them, and compare the next
#' choices.
#'
#' A file that is read has the same log and the same posterior. Its next choices are those of the version that reads it.
#' A release may choose better than the one before, and NEWS then states it. Within a version, choices are identical to
#' the bit on one machine and, except for ties within rounding, on all machines.
#'
#' Results of [maximize_bandit()] and [run_bandit()] are R objects for inspection. Their element `bandit` is a saved
#' bandit.
#'
#' `$compact()` without `keep` writes ordinary events, which the same versions read as before. With `keep` it writes
#' an additional kind of event. Unreleased versions that do not have this kind report such a file as damaged.
#'
#' @section Functions in files: Journals and stores hold text and numbers. Your own functions (a kernel, a width, a
#' policy) are included only with `trust = TRUE`, and need R and the packages that they call. JSON holds no functions at
#' all. Use it for files that must be kept for many years.
#'
#' @section Functions, arguments and columns: Names, arguments and columns of exported functions stay.
#'
#' * **Deprecation**: before something is removed, it is deprecated in a release. It still works there, with a warning
#'   of class `gpbandits_deprecated` once in a session, which names the replacement. It is removed at the earliest a
#'   year and one release later.
#' * **New arguments** have defaults under which nothing changes.
#' * **Classes of conditions** stay (`gpbandits_error` and the others).
#' * **May change at any time**: internal functions, wordings of messages and printed output, and fields of objects that
#'   no help page names.
#' * **Until 1.0**, a release may break one of these rules if a result would otherwise be wrong. NEWS then states it
#'   first.
#'
#' @section Several writers:
#'
#' * **Copies of a saved bandit** are separate bandits, without any exchange.
#' * **A journal** has one writer: the bandit that opened the file last, and writes. The change of another one is an
#'   error ([open_bandit()]).
#' * **A store** has any number of writers. Each change is a transaction, and a query is given to one worker at a time
#'   ([bandit_store()]). Of two rewards for one query the first counts: the same value again changes nothing, and
#'   another value is an error.
#' * **Two versions of the package** can use one store if both know its schema. Use new features only when all processes
#'   have them.
#' @seealso [bandit-backup], [as_json()], [open_bandit()], [bandit_store()].
#' @concept backward compatibility
#' @concept deprecation
#' @concept file format
#' @examples
#' b <- gp_ucb(1:9 / 9, kernel_se(0.3), noise_var = 0.1)
#' b$observe(b$suggest()$id, 0.5)
#' # For the archive: text, and the version that wrote it.
#' archive <- as_json(b)
#' substr(archive, 1, 75)
#' @name compatibility
NULL

#' Back up a bandit and delete personal data
#'
#' Describes how to back up files and databases of bandits, and how to delete personal data from them.
#'
#' @section Backups:
#'
#' * **A saved bandit or a JSON text**: copy the file.
#' * **A journal, or a store on SQLite**: while it is in use, do not copy the file; use `VACUUM INTO 'copy.db'` or
#'   SQLite's `.backup`.
#'   Otherwise copy the file, with the files of the same name that end in `-wal` and `-shm`, if they exist.
#' * **A store on PostgreSQL**: `pg_dump` of all tables `gpb_*` in one run (they refer to each other), or the server's
#'   own backups.
#' * **Also**: your functions, and the version of this package (`packageVersion("gpbandits")`).
#'
#' A restored backup is an earlier state. Later queries are suggested again, and workers that hold tokens of the later
#' state get an error.
#'
#' @section Deleting personal data: A log is a history. Nothing can be removed from its middle, because all later
#' choices depend on it. Therefore write nothing into it that may have to be deleted.
#'
#' * **Contexts** should be numbers that describe, not names or addresses. Keep the identity in a separate table, by the
#'   query's `id`; it can then be deleted.
#' * **Names of workers** in a store can be removed from table `gpb_lease`, once their queries are answered or given up:
#'   `UPDATE gpb_lease SET worker = NULL WHERE query = 7 AND bandit = 1`.
#' * **Reasons** given to `$fail()` and `$withdraw()` are part of the log and stay. Write nothing personal into them.
#' * **A result** cannot be removed alone. Make a new bandit, and add the remaining rows of `old$history()` with
#'   `new$add()`. Then delete the old bandit and its backups: the file, or in a store all rows of its `bandit` in the
#'   tables `gpb_*`. Then run `VACUUM`, because a database keeps deleted rows on the disk until then.
#'
#' A posterior that was computed from data still depends on them after the data are deleted.
#'
#' @seealso [compatibility], [bandit_store()], [open_bandit()].
#' @examples
#' b <- gp_ucb(1:9 / 9, kernel_se(0.3), noise_var = 0.1)
#' b$observe(b$suggest()$id, 0.5)
#' # All but the first result, in a new bandit:
#' left <- b$history()[-1, ]
#' new <- gp_ucb(1:9 / 9, kernel_se(0.3), noise_var = 0.1)
#' if (nrow(left)) new$add(arm = left$arm, reward = left$reward)
#' @name bandit-backup
#' @concept backup
#' @concept restore
#' @concept data protection
#' @concept personal data
NULL
