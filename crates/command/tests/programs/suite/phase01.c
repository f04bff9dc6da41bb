// phase01 (SCTBench): a thread locks a mutex that it holds.
#include "suite.h"

MUTEX(x);
MUTEX(y);

BODY(work) {
    lock(&x);
    unlock(&x);
    lock(&y);
#ifndef FIXED
    lock(&y);
#endif
    unlock(&y);
    return 0;
}

int main(void) {
    pthread_t first = start(work, 0), second = start(work, 0);
    join(first);
    join(second);
    return 0;
}
