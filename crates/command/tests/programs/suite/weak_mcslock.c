// mcslock (PCTWM): a queue lock whose gate is read relaxed. RC11.
#include "suite.h"

#ifdef FIXED
#define GATE memory_order_acquire
#else
#define GATE memory_order_relaxed
#endif
enum { THREADS = 2 };
struct node {
    struct node *_Atomic next;
    atomic_int gate;
};
static struct node *_Atomic tail;
static int data;

BODY(work) {
    struct node mine;
    atomic_init(&mine.next, 0);
    atomic_init(&mine.gate, 0);
    struct node *before = atomic_exchange_explicit(&tail, &mine, memory_order_acq_rel);
    if (before) {
        atomic_store_explicit(&mine.gate, 1, memory_order_relaxed);
        atomic_store_explicit(&before->next, &mine, memory_order_release);
        while (atomic_load_explicit(&mine.gate, GATE))
            sched_yield();
    }
    data++;
    struct node *next = atomic_load_explicit(&mine.next, memory_order_acquire);
    if (!next) {
        struct node *expected = &mine;
        if (atomic_compare_exchange_strong_explicit(&tail, &expected, 0, memory_order_acq_rel, memory_order_acquire))
            return 0;
        while (!(next = atomic_load_explicit(&mine.next, memory_order_acquire)))
            sched_yield();
    }
    atomic_store_explicit(&next->gate, 0, memory_order_release);
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(work, 0);
    for (int i = 0; i < THREADS; i++)
        join(threads[i]);
    assert(data == THREADS);
    return 0;
}
