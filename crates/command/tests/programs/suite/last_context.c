// radbench-bug1, bug3 (SCTBench): the last context destroys what the collector still uses.
#include "suite.h"

struct runtime {
    int contexts, is_collected;
};
static struct runtime *runtime;
MUTEX(mutex);

BODY(end_context) {
    lock(&mutex);
    int is_last = --runtime->contexts == 0;
#ifndef FIXED
    unlock(&mutex);
#endif
    if (is_last) {
        free(runtime);
        runtime = 0;
    }
#ifdef FIXED
    unlock(&mutex);
#endif
    return 0;
}

BODY(collect) {
    lock(&mutex);
    struct runtime *mine = runtime;
#ifdef FIXED
    if (mine)
        mine->is_collected = 1;
    unlock(&mutex);
#else
    unlock(&mutex);
    if (mine)
        mine->is_collected = 1;
#endif
    return 0;
}

int main(void) {
    runtime = calloc(1, sizeof *runtime);
    runtime->contexts = 1;
    pthread_t ender = start(end_context, 0), collector = start(collect, 0);
    join(ender);
    join(collector);
    return 0;
}
