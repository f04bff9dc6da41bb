// token_ring (SCTBench): each of three threads copies its neighbour's number; all are equal in one order only.
#include "suite.h"

static int x1 = 1, x2 = 2, x3 = 1, done1, done2, done3;
MUTEX(mutex);

BODY(first) {
    lock(&mutex);
    x1 = (x3 + 1) % 4;
    done1 = 1;
    unlock(&mutex);
    return 0;
}

BODY(second) {
    lock(&mutex);
#ifdef FIXED
    x1 = x3;
#endif
    x2 = x1;
    done2 = 1;
    unlock(&mutex);
    return 0;
}

BODY(third) {
    lock(&mutex);
#ifndef FIXED
    x3 = x2;
#endif
    done3 = 1;
    unlock(&mutex);
    return 0;
}

BODY(check) {
    lock(&mutex);
    if (done1 && done2 && done3)
#ifdef FIXED
        assert(x2 == x3);
#else
        assert(x1 == x2 && x2 == x3);
#endif
    unlock(&mutex);
    return 0;
}

int main(void) {
    start(first, 0);
    start(second, 0);
    start(third, 0);
    start(check, 0);
    return 0;
}
