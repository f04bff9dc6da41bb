// Three threads use locks, variables and the heap, and then main fails, in every execution.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int counter;
static int *blocks[3];

static void *work(void *number) {
    int me = (int)(long)number;
    int *block = malloc((unsigned long)(me + 1) * 8);
    atomic_fetch_add(&counter, 1);
    pthread_mutex_lock(&mutex);
    blocks[me] = block;
    *block = atomic_load(&counter);
    pthread_mutex_unlock(&mutex);
    atomic_store(&counter, me);
    return 0;
}

int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(!"the end");
}
