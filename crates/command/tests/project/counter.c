#include "counter.h"

#include <stdatomic.h>

static atomic_int counter;

void count(void) {
    int seen = atomic_load(&counter);
    atomic_store(&counter, seen + 1);
}

int counted(void) { return atomic_load(&counter); }
