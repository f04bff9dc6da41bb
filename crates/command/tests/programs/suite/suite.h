// What the programs of the suite have in common. Each has a bug, and none if FIXED is defined.
#ifndef SUITE_H
#define SUITE_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __cplusplus
#include <atomic>
#else
#include <stdatomic.h>
#endif

// The body of a thread.
#define BODY(name) static void *name(__attribute__((unused)) void *argument)
#define MUTEX(name) static __attribute__((unused)) pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER

static inline pthread_t start(void *(*body)(void *), void *argument) {
    pthread_t thread;
    int error = pthread_create(&thread, 0, body, argument);
    assert(!error);
    return thread;
}

static inline void join(pthread_t thread) { pthread_join(thread, 0); }
static inline void lock(pthread_mutex_t *mutex) { pthread_mutex_lock(mutex); }
static inline void unlock(pthread_mutex_t *mutex) { pthread_mutex_unlock(mutex); }
#endif
