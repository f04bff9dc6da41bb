// Recursive and error-checking mutexes, try-locks, and results of threads. Correct.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int count;

static void *work(void *argument) {
    assert(pthread_mutex_lock(&recursive) == 0);
    assert(pthread_mutex_trylock(&recursive) == 0);
    count++;
    assert(pthread_mutex_unlock(&recursive) == 0);
    assert(pthread_mutex_unlock(&recursive) == 0);
    assert(pthread_mutex_unlock(&checking) == EPERM);
    if (pthread_mutex_trylock(&checking) == 0) {
        assert(pthread_mutex_lock(&checking) == EDEADLK);
        pthread_mutex_unlock(&checking);
    }
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_t local;
    void *result;
    pthread_mutex_init(&local, 0);
    pthread_mutex_lock(&local);
    pthread_create(&thread, 0, work, &thread);
    work(0);
    pthread_mutex_unlock(&local);
    pthread_join(thread, &result);
    assert(result == &thread && count == 2);
    assert(pthread_join(pthread_self(), 0) != 0);
    pthread_mutex_destroy(&local);
    return 0;
}
