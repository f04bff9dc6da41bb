// radbench-bug5 (SCTBench): an interrupt between the check and the wait is lost.
#include "suite.h"

static atomic_int interrupted;
MUTEX(mutex);
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

BODY(wait_for_it) {
#ifdef FIXED
    lock(&mutex);
    while (!atomic_load(&interrupted))
        pthread_cond_wait(&changed, &mutex);
    unlock(&mutex);
#else
    if (!atomic_load(&interrupted)) {
        lock(&mutex);
        pthread_cond_wait(&changed, &mutex);
        unlock(&mutex);
    }
#endif
    return 0;
}

int main(void) {
    pthread_t waiter = start(wait_for_it, 0);
    lock(&mutex);
    atomic_store(&interrupted, 1);
    pthread_cond_signal(&changed);
    unlock(&mutex);
    join(waiter);
    return 0;
}
