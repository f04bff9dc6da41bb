// wronglock (7 OTHERS), wronglock_3 (SCTBench): one variable, protected by two locks.
#include "suite.h"

static volatile int value;
MUTEX(data);
MUTEX(wrong);

BODY(check) {
    lock(&data);
    int seen = value;
    value++;
    assert(value == seen + 1);
    unlock(&data);
    return 0;
}

BODY(count) {
#ifdef FIXED
    lock(&data);
#else
    lock(&wrong);
#endif
    value++;
#ifdef FIXED
    unlock(&data);
#else
    unlock(&wrong);
#endif
    return 0;
}

int main(void) {
    pthread_t threads[OTHERS], checker = start(check, 0);
    for (int i = 0; i < OTHERS; i++)
        threads[i] = start(count, 0);
    for (int i = 0; i < OTHERS; i++)
        join(threads[i]);
    join(checker);
    return 0;
}
