// Included before all other headers by code that is not in a hot path: gcc makes it small rather than fast.
// (The library is half of the installed package, and R's make cannot give one file other options than the next.)
// gcc takes the option only for whole files: a function that is made otherwise is not inlined into one of these.
#ifndef GPB_SMALL_H
#define GPB_SMALL_H

#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("Os")
#endif

#endif
