// dekker (PCTWM): mutual exclusion by flags, with a fence missing on one side. RC11.
#include "suite.h"

static atomic_int flags[2];
static volatile int data;

static void enter(int me, int is_fenced) {
    atomic_store_explicit(&flags[me], 1, memory_order_relaxed);
    if (is_fenced)
        atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&flags[1 - me], memory_order_relaxed) == 0)
        data = me;
}

BODY(first) {
    enter(0, 1);
    return 0;
}

BODY(second) {
#ifdef FIXED
    enter(1, 1);
#else
    enter(1, 0);
#endif
    return 0;
}

int main(void) {
    pthread_t one = start(first, 0), other = start(second, 0);
    join(one);
    join(other);
    return 0;
}
