// reorder_3, 4, 5, 10, 20 (SCTBench): SETTERS write two variables, CHECKERS read them, with no lock.
#include "suite.h"

static int a, b;
MUTEX(mutex);

static void enter(void) {
#ifdef FIXED
    lock(&mutex);
#endif
}

static void leave(void) {
#ifdef FIXED
    unlock(&mutex);
#endif
}

BODY(set) {
    enter();
    a = 1;
    b = -1;
    leave();
    return 0;
}

BODY(check) {
    enter();
    assert((a == 0 && b == 0) || (a == 1 && b == -1));
    leave();
    return 0;
}

int main(void) {
    pthread_t threads[SETTERS + CHECKERS];
    for (int i = 0; i < SETTERS; i++)
        threads[i] = start(set, 0);
    for (int i = 0; i < CHECKERS; i++)
        threads[SETTERS + i] = start(check, 0);
    for (int i = 0; i < SETTERS + CHECKERS; i++)
        join(threads[i]);
    return 0;
}
