// A thread ends while it holds a robust mutex. Correct, unless FORGETFUL leaves the mutex inconsistent.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mutex;
static int value, repairs, refusals;

static void *die(void *unused) {
    int error = pthread_mutex_lock(&mutex);
    if (error == EOWNERDEAD) {
        repairs++;
#ifndef FORGETFUL
        assert(pthread_mutex_consistent(&mutex) == 0);
#endif
    } else if (error == ENOTRECOVERABLE) {
        return 0;
    }
    value++;
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    pthread_create(&first, 0, die, 0);
    pthread_create(&second, 0, die, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    int error = pthread_mutex_lock(&mutex);
    assert(error == EOWNERDEAD);
    assert(pthread_mutex_trylock(&mutex) == EBUSY);
    assert(repairs == 1 && value == 2);
    assert(pthread_mutex_unlock(&mutex) == 0);
    assert(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
    assert(pthread_mutex_consistent(&mutex) == EINVAL);
    return 0;
}
