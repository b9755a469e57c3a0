#' @useDynLib gpbandits, .registration = TRUE
#' @importFrom Rcpp sourceCpp
#' @importFrom methods new setRefClass
#' @keywords internal
"_PACKAGE"
