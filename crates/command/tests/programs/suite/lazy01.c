// lazy01 (SCTBench): two additions may both come before the check that allows only one of them.
#include "suite.h"

static int data;
MUTEX(mutex);

BODY(add_one) {
    lock(&mutex);
    data += 1;
    unlock(&mutex);
    return 0;
}

BODY(add_two) {
    lock(&mutex);
    data += 2;
    unlock(&mutex);
    return 0;
}

BODY(check) {
    lock(&mutex);
#ifdef FIXED
    assert(data <= 3);
#else
    assert(data < 3);
#endif
    unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t threads[] = {start(add_one, 0), start(add_two, 0), start(check, 0)};
    for (int i = 0; i < 3; i++)
        join(threads[i]);
    return 0;
}
