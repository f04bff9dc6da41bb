// sync01, sync02 (SCTBench): a producer waits for a count that the consumer never reaches.
#include "suite.h"

static int count = 1;
MUTEX(mutex);
static pthread_cond_t empty = PTHREAD_COND_INITIALIZER, full = PTHREAD_COND_INITIALIZER;

BODY(produce) {
    lock(&mutex);
#ifdef FIXED
    while (count > 0)
#else
    while (count >= 0)
#endif
        pthread_cond_wait(&empty, &mutex);
    count++;
    pthread_cond_signal(&full);
    unlock(&mutex);
    return 0;
}

BODY(consume) {
    lock(&mutex);
    while (count == 0)
        pthread_cond_wait(&full, &mutex);
    count--;
    pthread_cond_signal(&empty);
    unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t producer = start(produce, 0), consumer = start(consume, 0);
    join(producer);
    join(consumer);
    return 0;
}
