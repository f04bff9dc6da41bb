// queue (20 ATTEMPTS), circular_buffer (7) (SCTBench): attempts, and not items, are compared with what was stored.
#include "suite.h"

static int stored[ATTEMPTS], items[ATTEMPTS], first, last, may_send = 1, may_receive;
MUTEX(mutex);

BODY(send) {
    lock(&mutex);
    stored[0] = items[last++] = 1;
    may_receive = 1;
    unlock(&mutex);
    for (int i = 1; i < ATTEMPTS; i++) {
        lock(&mutex);
        if (may_send) {
#ifdef FIXED
            stored[last] = i + 1;
#else
            stored[i] = i + 1;
#endif
            items[last++] = i + 1;
            may_send = 0;
            may_receive = 1;
        }
        unlock(&mutex);
    }
    return 0;
}

BODY(receive) {
    for (int i = 0; i < ATTEMPTS; i++) {
        lock(&mutex);
        if (may_receive && first < last) {
#ifdef FIXED
            assert(items[first] == stored[first]);
#else
            assert(items[first] == stored[i]);
#endif
            first++;
            may_receive = first < last;
            may_send = 1;
        }
        unlock(&mutex);
    }
    return 0;
}

int main(void) {
    pthread_t sender = start(send, 0), receiver = start(receive, 0);
    join(sender);
    join(receiver);
    return 0;
}
