// ferret (SCTBench): the loader says that its input has ended after its last item, and the output stage looks only
// after an item.
#include "suite.h"

enum { ITEMS = 2 };
static int queued, received, has_ended;
MUTEX(mutex);
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

BODY(load) {
    for (int i = 0; i < ITEMS; i++) {
        lock(&mutex);
        queued++;
#ifdef FIXED
        has_ended = i + 1 == ITEMS;
#endif
        pthread_cond_signal(&changed);
        unlock(&mutex);
    }
#ifndef FIXED
    lock(&mutex);
    has_ended = 1;
    unlock(&mutex);
#endif
    return 0;
}

BODY(output) {
    for (int is_last = 0; !is_last;) {
        lock(&mutex);
        while (queued == 0)
            pthread_cond_wait(&changed, &mutex);
        queued--;
        received++;
        is_last = has_ended && received == ITEMS;
        unlock(&mutex);
    }
    return 0;
}

int main(void) {
    pthread_t loader = start(load, 0), writer = start(output, 0);
    join(loader);
    join(writer);
    assert(received == ITEMS);
    return 0;
}
