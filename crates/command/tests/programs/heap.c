// Objects on the heap, thread-specific data with a destructor, and output. Correct.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct shared {
    pthread_mutex_t mutex;
    _Atomic int count;
    int plain;
};

static pthread_key_t key;
static _Atomic int destroyed;

static void destroy(void *value) {
    free(value);
    atomic_fetch_add(&destroyed, 1);
}

static void *work(void *argument) {
    struct shared *shared = argument;
    pthread_setspecific(key, malloc(100));
    pthread_mutex_lock(&shared->mutex);
    shared->plain++;
    pthread_mutex_unlock(&shared->mutex);
    atomic_fetch_add(&shared->count, 1);
    printf("done %p\n", pthread_getspecific(key));
    return 0;
}

int main(void) {
    static int runs;
    struct shared *shared = calloc(1, sizeof *shared);
    pthread_t threads[2];
    assert(runs++ == 0);
    pthread_key_create(&key, destroy);
    pthread_mutex_init(&shared->mutex, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, shared);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(shared->plain == 2 && shared->count == 2 && destroyed == 2);
    pthread_mutex_destroy(&shared->mutex);
    free(shared);
    return 0;
}
