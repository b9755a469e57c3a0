# One more attempt for each figure that the article "Reproduction" does not call reproduced. The settings that a paper
# leaves open are varied over the ranges below; this text was committed before the first run.
#
# part       figure              varied                                                         reproduced if
# sensors    Chowdhury 4 (a, b)  prior mean: training means, their mean, 0; units: raw, largest  4 (a): GP-TS least of five rules,
#                                sd, each sensor's sd; B: smoothed norm, printed; 4 (a) also     IGP-UCB within 5% of GP-UCB;
#                                7 to 10 o'clock only (every fourth test row)                    4 (b): GP-TS least, IGP-UCB below EI, PI
# hartmann   Chowdhury 3 (b)     values: sd 1, raw, range 1; R^2 or R is 1% of the range;        GP-TS at most 1.5 times IGP-UCB,
#                                B: norm, 1, printed (5 trials of 1,000 rounds)                  EI or PI below both
# delays     Verma 1 (a)         prior mean 0, 0.5; variance 0.05, 1; sd of the noise 0.001,     mean simple regret ordered by the mean
#                                0.01, 0.1 (40 functions, beta = 1)                              delay after 60 and after 150 rounds
# rules      Verma 1 (c, d), 5   the same without 0.001 (40 functions)                           SDF's mean least after 60 and 150 rounds,
#                                                                                                paired p < 0.05/8 against both after one
# svm        Verma 2 (a to d)    grid of the authors' objective instead of our split             SDF's mean least after 100 queries,
#                                (their ten starts, inputs on both scales)                       paired p < 0.05/2 against both
# tables     Verma 2 (e-h), 3    inputs on a linear scale, a logarithmic scale (20 runs)         the same
# margin     Srinivas 5 (a)      MPI's margin 0, 1/20, 1/5, 1 sd of the noise                    MPI's average regret at the end within
#                                (15 functions)                                                  10% or two standard errors of GP-UCB's
# measured   Srinivas 5 (b)      prior mean: training means, their mean, 0; 46, 50 sensors       EI, GP-UCB within two standard errors
#                                                                                                (paired), below MPI, mean and variance
#            Srinivas 5 (c)      sensors that miss at most 12, 25, 100%, gaps filled with the    MPI within two standard errors (paired)
#                                conditional mean of their slot; prior mean as above             of GP-UCB at the end
# factor     Srinivas: "factor   beta_t times 1, 1/2, 1/5, 1/10, 1/20 on 15 functions; average   1/5 is the best in most of five folds
#            5"                  regret after 1,000 rounds, chosen on four fifths
# epochs     Shi 4, 5            printed step 0.5 with the mean; S = 1, 5, 20; width 1, 2;       regret and violation at 350 at most 0.1
#                                lengthscale 0.5, 1; reuse or not (10 runs, grid 31)             each, violation less than at 90
#            Shi 1 to 3          Algorithm 2 by the letter: width 1, 2, lengthscale 0.5, 1, 2    the same
# level      Avanesov 2          (c, C): 2, 5, 10 with 0.52, 1.3, 2.6; sigma^2: g^2, g^2 log T   K = 3 and 9: within 15% of 502 K^0.282
#                                (8 runs)
#
# Not attempted: Srinivas 2 (a) and Shi Table 1 (no experiment); Shi 6 to 9 (the constants of the utilities are not in
# the paper); Verma 4 (a, d) (one to two minutes a run).
# From the package's root, gpbandits installed (about ten minutes of one processor):
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/attempts.R [part ...]
# Writes inst/extdata/attempts.csv.xz: part, setting, rule, value (mean), se, ok (the setting reproduces the figure).
library(gpbandits)
source("vignettes/precompute/results.R")
