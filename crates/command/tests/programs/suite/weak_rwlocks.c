// linuxrwlocks (PCTWM): a lock for readers and writers that is taken by a relaxed subtraction. RC11.
#include "suite.h"

#ifdef FIXED
#define TAKE memory_order_acquire
#else
#define TAKE memory_order_relaxed
#endif
enum { FREE = 4 };
static atomic_int word = FREE;
static int data;

static void take(int weight) {
    int before = atomic_fetch_sub_explicit(&word, weight, TAKE);
    while (before < weight) {
        atomic_fetch_add_explicit(&word, weight, memory_order_relaxed);
        while (atomic_load_explicit(&word, memory_order_relaxed) < weight)
            sched_yield();
        before = atomic_fetch_sub_explicit(&word, weight, TAKE);
    }
}

static void give(int weight) { atomic_fetch_add_explicit(&word, weight, memory_order_release); }

BODY(work) {
    take(1);
    int seen = data;
    give(1);
    take(FREE);
    data = seen + 1;
    give(FREE);
    return 0;
}

int main(void) {
    pthread_t first = start(work, 0), second = start(work, 0);
    join(first);
    join(second);
    return 0;
}
