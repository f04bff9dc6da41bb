// qsort_mt (SCTBench): a worker is marked as busy before its range is written, and may begin with a stale one.
#include "suite.h"

enum { NUMBERS = 8, IDLE = 0, WORK = 1, STOP = 2 };
static int numbers[NUMBERS] = {5, 2, 7, 1, 8, 3, 6, 4};
MUTEX(pool);
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int state, first, end;
} worker = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, IDLE, 0, 0};

static void sort(int first, int end) {
    for (int i = first + 1; i < end; i++)
        for (int j = i; j > first && numbers[j - 1] > numbers[j]; j--) {
            int saved = numbers[j];
            numbers[j] = numbers[j - 1];
            numbers[j - 1] = saved;
        }
}

BODY(work) {
    lock(&worker.mutex);
    for (;;) {
        while (__atomic_load_n(&worker.state, __ATOMIC_SEQ_CST) == IDLE)
            pthread_cond_wait(&worker.changed, &worker.mutex);
        if (__atomic_load_n(&worker.state, __ATOMIC_SEQ_CST) == STOP)
            break;
        sort(worker.first, worker.end);
        __atomic_store_n(&worker.state, IDLE, __ATOMIC_SEQ_CST);
        pthread_cond_broadcast(&worker.changed);
    }
    unlock(&worker.mutex);
    return 0;
}

int main(void) {
    pthread_t thread = start(work, 0);
#ifdef FIXED
    lock(&worker.mutex);
    __atomic_store_n(&worker.state, WORK, __ATOMIC_SEQ_CST);
#else
    lock(&pool);
    __atomic_store_n(&worker.state, WORK, __ATOMIC_SEQ_CST);
    unlock(&pool);
    lock(&worker.mutex);
#endif
    worker.first = 0;
    worker.end = NUMBERS;
    pthread_cond_broadcast(&worker.changed);
    while (__atomic_load_n(&worker.state, __ATOMIC_SEQ_CST) != IDLE)
        pthread_cond_wait(&worker.changed, &worker.mutex);
    for (int i = 1; i < NUMBERS; i++)
        assert(numbers[i - 1] <= numbers[i]);
    __atomic_store_n(&worker.state, STOP, __ATOMIC_SEQ_CST);
    pthread_cond_broadcast(&worker.changed);
    unlock(&worker.mutex);
    join(thread);
    return 0;
}
