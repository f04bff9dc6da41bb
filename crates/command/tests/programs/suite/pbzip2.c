// pbzip2 (SCTBench): main joins only the writer, and destroys the mutex of the queue while a consumer uses it.
#include "suite.h"

enum { CONSUMERS = 2, BLOCKS = 2 };
struct queue {
    pthread_mutex_t mutex;
    int left, done;
};
static struct queue *queue;

BODY(consume) {
    struct queue *mine = argument;
    for (;;) {
        lock(&mine->mutex);
        if (mine->left == 0) {
            mine->done = 1;
            unlock(&mine->mutex);
            return 0;
        }
        mine->left--;
        unlock(&mine->mutex);
    }
}

BODY(write_blocks) {
    struct queue *mine = argument;
    int is_done = 0;
    while (!is_done) {
        lock(&mine->mutex);
        is_done = mine->done;
        unlock(&mine->mutex);
        sched_yield();
    }
    return 0;
}

int main(void) {
    queue = malloc(sizeof *queue);
    pthread_mutex_init(&queue->mutex, 0);
    queue->left = BLOCKS;
    queue->done = 0;
    __attribute__((unused)) pthread_t consumers[CONSUMERS];
    for (int i = 0; i < CONSUMERS; i++)
        consumers[i] = start(consume, queue);
    join(start(write_blocks, queue));
#ifdef FIXED
    for (int i = 0; i < CONSUMERS; i++)
        join(consumers[i]);
#endif
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
    return 0;
}
