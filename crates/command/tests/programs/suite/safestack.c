// safestack (SCTBench): a lock-free stack of indices in which the ABA problem gives one node to two threads.
// FIXED protects it by a lock.
#include "suite.h"

enum { NODES = 3, THREADS = 3, ROUNDS = 2 };
static atomic_int count = NODES, head, next[NODES];
static atomic_int value[NODES];
MUTEX(mutex);

static int pop(void) {
    while (atomic_load(&count) > 1) {
        int first = atomic_load(&head);
        int second = atomic_exchange(&next[first], -1);
        if (second >= 0) {
            int expected = first;
            if (atomic_compare_exchange_strong(&head, &expected, second)) {
                atomic_fetch_sub(&count, 1);
                return first;
            }
            atomic_exchange(&next[first], second);
        }
        sched_yield();
    }
    return -1;
}

static void push(int node) {
    int first = atomic_load(&head);
    do
        atomic_store(&next[node], first);
    while (!atomic_compare_exchange_strong(&head, &first, node));
    atomic_fetch_add(&count, 1);
}

BODY(work) {
    int id = (int)(intptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        int node;
#ifdef FIXED
        lock(&mutex);
        node = pop();
        unlock(&mutex);
        if (node < 0)
            return 0;
#else
        while ((node = pop()) < 0)
            sched_yield();
#endif
        atomic_store(&value[node], id);
        assert(atomic_load(&value[node]) == id);
#ifdef FIXED
        lock(&mutex);
#endif
        push(node);
#ifdef FIXED
        unlock(&mutex);
#endif
    }
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < NODES; i++)
        atomic_init(&next[i], i + 1 < NODES ? i + 1 : -1);
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(work, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < THREADS; i++)
        join(threads[i]);
    return 0;
}
