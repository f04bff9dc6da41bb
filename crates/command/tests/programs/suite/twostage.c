// twostage, twostage_100 (SCTBench): two variables with a lock each are written in two critical sections.
#include "suite.h"

static int first, second;
MUTEX(one);
MUTEX(other);

BODY(write_both) {
    lock(&one);
    first = 1;
#ifndef FIXED
    unlock(&one);
#endif
    lock(&other);
#ifdef FIXED
    second = 2;
#else
    second = first + 1;
#endif
    unlock(&other);
#ifdef FIXED
    unlock(&one);
#endif
    return 0;
}

BODY(read_both) {
    lock(&one);
    if (first == 0) {
        unlock(&one);
        return 0;
    }
    int seen = first;
#ifndef FIXED
    unlock(&one);
#endif
    lock(&other);
    int also = second;
    unlock(&other);
#ifdef FIXED
    unlock(&one);
#endif
    assert(also == seen + 1);
    return 0;
}

int main(void) {
    pthread_t threads[WRITERS], reader;
    for (int i = 0; i < WRITERS; i++)
        threads[i] = start(write_both, 0);
    reader = start(read_both, 0);
    for (int i = 0; i < WRITERS; i++)
        join(threads[i]);
    join(reader);
    return 0;
}
