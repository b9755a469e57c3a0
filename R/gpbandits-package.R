#' @useDynLib gpbandits, .registration = TRUE
#' @importFrom Rcpp sourceCpp
#' @importFrom methods new setRefClass
#' @importFrom stats fitted logLik nobs predict residuals simulate update
#' @keywords internal
"_PACKAGE"
