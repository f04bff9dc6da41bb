// A thread uses a pointer that another one clears.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int *_Atomic shared;

static void *use(void *unused) {
    if (atomic_load(&shared))
        *(volatile int *)atomic_load(&shared) = 1;
    return unused;
}

static void *clear(void *unused) {
    atomic_store(&shared, (int *)0);
    return unused;
}

int main(void) {
    pthread_t one, other;
    shared = malloc(sizeof(int));
    pthread_create(&one, 0, use, 0);
    pthread_create(&other, 0, clear, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
