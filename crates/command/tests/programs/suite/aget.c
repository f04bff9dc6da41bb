// aget-bug2 (SCTBench): the offsets of the workers and the sum of what they wrote are saved at different times.
#include "suite.h"

enum { WORKERS = 2, BYTES = 10 };
static atomic_int offsets[WORKERS];
static int written;
MUTEX(mutex);

BODY(load) {
    int me = (int)(intptr_t)argument;
#ifdef FIXED
    lock(&mutex);
    atomic_fetch_add(&offsets[me], BYTES);
#else
    atomic_fetch_add(&offsets[me], BYTES);
    lock(&mutex);
#endif
    written += BYTES;
    unlock(&mutex);
    return 0;
}

BODY(save) {
    int sum = 0;
#ifdef FIXED
    lock(&mutex);
#endif
    for (int i = 0; i < WORKERS; i++)
        sum += atomic_load(&offsets[i]);
#ifndef FIXED
    lock(&mutex);
#endif
    assert(sum == written);
    unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t saver, workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        workers[i] = start(load, (void *)(intptr_t)i);
    saver = start(save, 0);
    for (int i = 0; i < WORKERS; i++)
        join(workers[i]);
    join(saver);
    return 0;
}
