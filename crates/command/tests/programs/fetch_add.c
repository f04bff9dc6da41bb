// THREADS threads add to a counter, TIMES times each. Correct.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int counter;

static void *add(void *unused) {
    for (int i = 0; i < TIMES; i++)
        atomic_fetch_add(&counter, 1);
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    return 0;
}
