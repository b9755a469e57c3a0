// What RcppExports.cpp begins with. All it needs of RcppEigen.h, which it asks for next, is in
// r_values.h: it finds that header read.
#ifndef GPBANDITS_TYPES_H
#define GPBANDITS_TYPES_H

#include "r_values.h"

#define RcppEigen__RcppEigen__h

#endif
