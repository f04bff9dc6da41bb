// fsbench (SCTBench): the 27th thread uses an entry behind the end of an array of 26 locks.
#include "suite.h"

#ifdef FIXED
enum { BLOCKS = 27, THREADS = 27 };
#else
enum { BLOCKS = 26, THREADS = 27 };
#endif
static pthread_mutex_t *locks;
static int busy[THREADS];

BODY(use_block) {
    int block = (int)(intptr_t)argument;
    assert(block < BLOCKS);
    lock(&locks[block]);
    busy[block] = 1;
    unlock(&locks[block]);
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    locks = calloc(BLOCKS, sizeof *locks);
    for (int i = 0; i < BLOCKS; i++)
        pthread_mutex_init(&locks[i], 0);
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(use_block, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        join(threads[i]);
    free(locks);
    return 0;
}
