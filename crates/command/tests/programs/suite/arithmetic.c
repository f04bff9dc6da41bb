// arithmetic_prog (SCTBench): a sum of the numbers that a producer sends; always wrong by one.
#include "suite.h"

enum { NUMBERS = 3 };
static int slot, is_full, sum;
MUTEX(mutex);
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

BODY(produce) {
    for (int i = 1; i <= NUMBERS; i++) {
        lock(&mutex);
        while (is_full)
            pthread_cond_wait(&changed, &mutex);
        slot = i;
        is_full = 1;
        pthread_cond_broadcast(&changed);
        unlock(&mutex);
    }
    return 0;
}

BODY(consume) {
    for (int i = 1; i <= NUMBERS; i++) {
        lock(&mutex);
        while (!is_full)
            pthread_cond_wait(&changed, &mutex);
        sum += slot;
        is_full = 0;
        pthread_cond_broadcast(&changed);
        unlock(&mutex);
    }
    return 0;
}

int main(void) {
    pthread_t producer = start(produce, 0), consumer = start(consume, 0);
    join(producer);
    join(consumer);
#ifdef FIXED
    assert(sum == NUMBERS * (NUMBERS + 1) / 2);
#else
    assert(sum != NUMBERS * (NUMBERS + 1) / 2);
#endif
    return 0;
}
