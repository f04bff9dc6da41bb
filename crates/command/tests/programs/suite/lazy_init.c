// radbench-bug4 (SCTBench): a monitor is made lazily by two threads, which then use two of them.
#include "suite.h"

static pthread_mutex_t *_Atomic monitor;
static int inside;
MUTEX(mutex);

static pthread_mutex_t *get(void) {
#ifdef FIXED
    lock(&mutex);
#endif
    if (!atomic_load(&monitor)) {
        pthread_mutex_t *made = malloc(sizeof *made);
        pthread_mutex_init(made, 0);
        atomic_store(&monitor, made);
    }
    pthread_mutex_t *result = atomic_load(&monitor);
#ifdef FIXED
    unlock(&mutex);
#endif
    return result;
}

BODY(work) {
    pthread_mutex_t *mine = get();
    lock(mine);
    int before = __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
    assert(before == 0);
    __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
    unlock(mine);
    return 0;
}

int main(void) {
    pthread_t first = start(work, 0), second = start(work, 0);
    join(first);
    join(second);
    return 0;
}
