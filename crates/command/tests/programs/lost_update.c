// Two threads read a counter and write it back. One update can be lost.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static _Atomic int counter;

static void *increment(void *unused) {
    int seen = atomic_load(&counter);
    fprintf(stderr, "saw %d\n", seen);
    atomic_store(&counter, seen + 1);
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, increment, 0);
    pthread_create(&other, 0, increment, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(counter == 2);
    return 0;
}
