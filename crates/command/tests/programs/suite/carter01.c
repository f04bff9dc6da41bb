// carter01 (SCTBench): the first of two users takes a lock that the last of them drops; both groups do so.
#include "suite.h"

static int users_a, users_b;
MUTEX(mutex);
MUTEX(shared);

static void use(int *users) {
    lock(&mutex);
    if (++*users == 1) {
#ifdef FIXED
        unlock(&mutex);
        lock(&shared);
        unlock(&shared);
        lock(&mutex);
#else
        lock(&shared);
#endif
    }
    unlock(&mutex);
    lock(&mutex);
    if (--*users == 0) {
#ifndef FIXED
        unlock(&shared);
#endif
    }
    unlock(&mutex);
}

BODY(first) {
    use(&users_a);
    return 0;
}

BODY(second) {
    use(&users_b);
    return 0;
}

BODY(nothing) { return 0; }

int main(void) {
    pthread_t threads[] = {start(first, 0), start(second, 0), start(nothing, 0), start(nothing, 0)};
    for (int i = 0; i < 4; i++)
        join(threads[i]);
    return 0;
}
