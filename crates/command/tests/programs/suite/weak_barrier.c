// barrier (PCTWM): a writer and readers meet at a spin barrier whose step is relaxed. RC11.
#include "suite.h"

enum { READERS = 2 };
#ifdef FIXED
#define STEP memory_order_acq_rel
#define LOOK memory_order_acquire
#else
#define STEP memory_order_relaxed
#define LOOK memory_order_acquire
#endif
static atomic_int arrived, step;
static int data;

static void wait_for_all(void) {
    if (atomic_fetch_add_explicit(&arrived, 1, memory_order_acq_rel) == READERS) {
        atomic_fetch_add_explicit(&step, 1, STEP);
    } else {
        while (atomic_load_explicit(&step, LOOK) == 0)
            sched_yield();
    }
}

BODY(write_data) {
    data = 1;
    wait_for_all();
    return 0;
}

BODY(read_data) {
    wait_for_all();
    assert(data == 1);
    return 0;
}

int main(void) {
    pthread_t threads[READERS + 1];
    threads[0] = start(write_data, 0);
    for (int i = 1; i <= READERS; i++)
        threads[i] = start(read_data, 0);
    for (int i = 0; i <= READERS; i++)
        join(threads[i]);
    return 0;
}
