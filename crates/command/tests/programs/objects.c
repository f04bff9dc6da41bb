// Objects that are used after their end. The argument says which.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condvar = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_mutex_t *block;
static const char *which;

static int is(const char *name) { return !strcmp(which, name); }

static void *use(void *unused) {
    if (is("destroyed_condvar")) {
        pthread_cond_signal(&condvar);
    } else if (is("destroyed_rwlock")) {
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    } else if (is("freed_mutex")) {
        pthread_mutex_lock(block);
        pthread_mutex_unlock(block);
    } else if (is("foreign_unlock")) {
        pthread_mutex_unlock(&mutex);
    } else if (is("foreign_spin")) {
        pthread_spin_unlock(&spin);
    } else {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return 0;
}

int main(int count, char **arguments) {
    pthread_t thread;
    which = arguments[1];
    block = malloc(sizeof *block);
    pthread_mutex_init(block, 0);
    pthread_spin_init(&spin, 0);
    if (is("foreign_unlock"))
        pthread_mutex_lock(&mutex);
    if (is("foreign_spin"))
        pthread_spin_lock(&spin);
    pthread_create(&thread, 0, use, 0);
    if (is("destroyed_mutex"))
        pthread_mutex_destroy(&mutex);
    if (is("initialised_mutex"))
        pthread_mutex_init(&mutex, 0);
    if (is("destroyed_condvar"))
        pthread_cond_destroy(&condvar);
    if (is("destroyed_rwlock"))
        pthread_rwlock_destroy(&rwlock);
    if (is("freed_mutex")) {
        pthread_mutex_destroy(block);
        free(block);
    }
    pthread_join(thread, 0);
    return 0;
}
