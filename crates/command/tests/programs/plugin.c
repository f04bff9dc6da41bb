// A library that a program loads.
#include <stdatomic.h>

static atomic_int calls;

int plugin(void) { return atomic_fetch_add(&calls, 1); }
