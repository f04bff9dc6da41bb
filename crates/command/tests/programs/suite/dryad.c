// Dryad channels (PCT): the channel is freed while a worker is about to take its lock.
#include "suite.h"

enum { WORKERS = 4 };
struct channel {
    pthread_mutex_t mutex;
    int users, sent;
};
static atomic_int arrived;

BODY(work) {
    struct channel *channel = argument;
    atomic_fetch_add(&arrived, 1);
    lock(&channel->mutex);
    channel->sent++;
    unlock(&channel->mutex);
    return 0;
}

int main(void) {
    struct channel *channel = calloc(1, sizeof *channel);
    pthread_t workers[WORKERS];
    pthread_mutex_init(&channel->mutex, 0);
    for (int i = 0; i < WORKERS; i++)
        workers[i] = start(work, channel);
#ifdef FIXED
    for (int i = 0; i < WORKERS; i++)
        join(workers[i]);
#endif
    while (atomic_load(&arrived) < WORKERS)
        sched_yield();
    free(channel);
#ifndef FIXED
    for (int i = 0; i < WORKERS; i++)
        join(workers[i]);
#endif
    return 0;
}
