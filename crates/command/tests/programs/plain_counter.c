// Two threads increment a plain counter, with a lock if LOCKED. Its value does not matter if UNCHECKED.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static char before, padding[3];
static int counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *increment(void *unused) {
    // Blocks of the heap go from thread to thread.
    int *block = malloc(sizeof *block);
    *block = 1;
#ifdef LOCKED
    pthread_mutex_lock(&mutex);
#endif
    counter += *block;
#ifdef LOCKED
    pthread_mutex_unlock(&mutex);
#endif
    free(block);
    return unused;
}

int main(void) {
    pthread_t one, other;
    before = padding[0];
    pthread_create(&one, 0, increment, 0);
    pthread_create(&other, 0, increment, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
#ifndef UNCHECKED
    assert(counter == 2);
#endif
    return before;
}
