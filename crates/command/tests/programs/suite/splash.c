// barnes, fft, lu (SCTBench, PCT): main does not wait for the end of its threads, because a macro is empty.
#include "suite.h"

enum { THREADS = 2, STEPS = 3 };
static atomic_int arrived, phase, finished;

// A barrier that spins.
static void wait_for_all(void) {
    int now = atomic_load(&phase);
    if (atomic_fetch_add(&arrived, 1) == THREADS - 1) {
        atomic_store(&arrived, 0);
        atomic_store(&phase, now + 1);
    } else {
        while (atomic_load(&phase) == now)
            sched_yield();
    }
}

BODY(work) {
    for (int i = 0; i < STEPS; i++)
        wait_for_all();
    atomic_fetch_add(&finished, 1);
    return 0;
}

#ifdef FIXED
#define WAIT_FOR_END(thread) join(thread)
#else
#define WAIT_FOR_END(thread)
#endif

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(work, 0);
    for (int i = 0; i < THREADS; i++)
        WAIT_FOR_END(threads[i]);
    (void)threads;
    assert(atomic_load(&finished) == THREADS);
    return 0;
}
