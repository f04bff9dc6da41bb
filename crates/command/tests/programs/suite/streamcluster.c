// streamcluster (BUG 1), streamcluster2 (2), streamcluster3 (3) (SCTBench): a barrier is missing.
// 1: between "the workers are done" and the end of the work; 2: after an allocation; 3: before memory is freed.
#include "suite.h"

enum { WORKERS = 3 };
static pthread_barrier_t barrier;
static atomic_int open_flag = 1, done;
static int *_Atomic costs;

BODY(work) {
    int me = (int)(intptr_t)argument, sum = 0;
    if (me == 0)
        atomic_store(&costs, calloc(WORKERS, sizeof(int)));
#if defined(FIXED) || BUG != 2
    pthread_barrier_wait(&barrier);
#endif
    int *mine = atomic_load(&costs);
    __atomic_store_n(&mine[me], 1, __ATOMIC_SEQ_CST);
    pthread_barrier_wait(&barrier);
    mine = atomic_load(&costs);
    for (int i = 0; i < WORKERS; i++)
        sum += __atomic_load_n(&mine[i], __ATOMIC_SEQ_CST);
    assert(sum == WORKERS);
#if defined(FIXED) || BUG != 3
    pthread_barrier_wait(&barrier);
#endif
    if (me == 0)
        free(mine);
    atomic_fetch_add(&done, 1);
#if defined(FIXED) || BUG != 1
    pthread_barrier_wait(&barrier);
#endif
    if (me == 0) {
        assert(atomic_load(&done) == WORKERS);
        atomic_store(&open_flag, 0);
    }
    return 0;
}

int main(void) {
    pthread_t threads[WORKERS];
    pthread_barrier_init(&barrier, 0, WORKERS);
    for (int i = 0; i < WORKERS; i++)
        threads[i] = start(work, (void *)(intptr_t)i);
    for (int i = 0; i < WORKERS; i++)
        join(threads[i]);
    return 0;
}
