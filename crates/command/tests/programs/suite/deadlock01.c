// deadlock01 (SCTBench): two locks, taken in both orders.
#include "suite.h"

static int counter;
MUTEX(a);
MUTEX(b);

BODY(one) {
    lock(&a);
    lock(&b);
    counter++;
    unlock(&b);
    unlock(&a);
    return 0;
}

BODY(other) {
#ifdef FIXED
    lock(&a);
    lock(&b);
#else
    lock(&b);
    lock(&a);
#endif
    counter--;
    unlock(&a);
    unlock(&b);
    return 0;
}

int main(void) {
    pthread_t first = start(one, 0), second = start(other, 0);
    join(first);
    join(second);
    return 0;
}
