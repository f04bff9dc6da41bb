// ctrace-test (SCTBench): a thread ends tracing and frees the records of all threads, while main writes to its own.
#include "suite.h"

enum { THREADS = 2 };
static char *records[THREADS];
MUTEX(mutex);

BODY(end_tracing) {
#ifdef FIXED
    lock(&mutex);
#endif
    for (int i = 0; i < THREADS; i++) {
        free(records[i]);
        records[i] = 0;
    }
#ifdef FIXED
    unlock(&mutex);
#endif
    return 0;
}

static void trace(int thread, const char *message) {
#ifdef FIXED
    lock(&mutex);
#endif
    char *record = records[thread];
    if (record)
        strcpy(record, message);
#ifdef FIXED
    unlock(&mutex);
#endif
}

int main(void) {
    for (int i = 0; i < THREADS; i++)
        records[i] = malloc(64);
    pthread_t thread = start(end_tracing, 0);
    trace(0, "main goes on");
    join(thread);
    return 0;
}
