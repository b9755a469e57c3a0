# Fleets of workers of a store that are killed, stopped and cut off.

test_that("workers under kill -9: nothing is lost or counted twice, and the posterior is that of the log", {
  skip_without_signals()
  full <- second_level()
  evaluations <- by_level(16, 1000, quick = 9)
  on_databases(function(place) {
    bandit <- fleet_bandit(place, evaluations)
    let_go(store_makers$hallucinate(store = store_at(place, "other")))      # somebody else in the same database
    seen <- if (full) fleet_under_fire(place, evaluations, 20, each = 10, pause = 0.05, lease = 5)
            else fleet_under_fire(place, evaluations, 3, each = 3, drivers = 1, lease = 1)
    expect_gt(seen$workers_killed, 0)
    expect_identical(seen$drivers_killed, if (full) 2 else 1)
    expect_complete_fleet(place, bandit, evaluations)
    expect_identical(nrow(open_bandit(store_at(place, "other"))$history()), 0L)
  })
})

# (Half an hour at the second level.)
test_that("workers on all types of domains under kill -9, freezes and restarts: nothing is lost or counted twice", {
  skip_without_signals()
  full <- second_level()
  evaluations <- by_level(24, 1000, quick = 14)
  blows <- if (full) rep(c("zombie", "frozen", "restart", "zombie", "crash"), 2) else c("frozen", "restart")
  on_databases(function(place) for (kind in if (full) c("box", "space", "open") else if (place$kind == "sqlite") "open" else "box") {
    place <- if (place$kind == "sqlite") sqlite_location() else postgres_location()
    bandit <- fleet_bandit(place, evaluations, kind)
    seen <- fleet_under_fire(place, evaluations, if (full) 8 else 3, each = 4, drivers = if (full) 2 else 0, kind = kind, blows = blows,
                             pause = if (full) 0.02 else 0.1, lease = if (full) 2 else 1)
    expect_identical(seen$blows, blows)
    expect_gt(seen$workers_killed, 0)
    expect_complete_fleet(place, bandit, evaluations, kind)
  })
})

# Takes half an hour on two cores; GPBANDITS_FLEET sets another number of evaluations.
test_that("100 workers and 10,000 evaluations, undisturbed and under kill -9", {
  skip_on_os("windows")
  skip_if(!second_level(), "100 workers are for GPBANDITS_TEST_LEVEL=2")
  evaluations <- as.integer(Sys.getenv("GPBANDITS_FLEET", "10000"))
  for (each in c(Inf, 10)) {
    on_databases(function(place) {
      bandit <- fleet_bandit(place, evaluations)
      fleet_under_fire(place, evaluations, 100, each = each, drivers = if (each < Inf) 2 else 0, pause = 0.05, lease = 60)
      expect_complete_fleet(place, bandit, evaluations)
    })
  }
})
