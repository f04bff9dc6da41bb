// bluetooth_driver (SCTBench): a request passes the check of the flag, and the driver stops before it counts.
#include "suite.h"

static int stopping, stopped, event;
static atomic_int pending = 1;
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

BODY(stop) {
    enter();
    stopping = 1;
    if (atomic_fetch_sub(&pending, 1) == 1)
        event = 1;
    if (event)
        stopped = 1;
    leave();
    return 0;
}

int main(void) {
    pthread_t stopper = start(stop, 0);
    enter();
    if (!stopping) {
        atomic_fetch_add(&pending, 1);
        assert(!stopped);
        if (atomic_fetch_sub(&pending, 1) == 1)
            event = 1;
    }
    leave();
    join(stopper);
    return 0;
}
