// radbench-bug2 (SCTBench): a collector uses the thread of a context that another thread sets to null.
#include "suite.h"

enum { CONTEXTS = 3 };
struct record {
    int value;
};
static struct record records[CONTEXTS];
static struct record *threads[CONTEXTS];
MUTEX(mutex);

BODY(collect) {
    int sum = 0;
    for (int i = 0; i < CONTEXTS; i++) {
#ifdef FIXED
        lock(&mutex);
#endif
        if (threads[i])
            sum += ((struct record *volatile *)threads)[i]->value;
#ifdef FIXED
        unlock(&mutex);
#endif
    }
    assert(sum >= 0);
    return 0;
}

BODY(end) {
    for (int i = 0; i < CONTEXTS; i++) {
#ifdef FIXED
        lock(&mutex);
#endif
        threads[i] = 0;
#ifdef FIXED
        unlock(&mutex);
#endif
    }
    return 0;
}

int main(void) {
    for (int i = 0; i < CONTEXTS; i++)
        threads[i] = &records[i];
    pthread_t worker = start(end, 0);
    collect(0);
    join(worker);
    return 0;
}
