// cldeque (PCTWM): a Chase-Lev deque publishes its bigger array by a relaxed store. RC11.
#include "suite.h"

#ifdef FIXED
#define PUBLISH memory_order_release
#define READ memory_order_acquire
#else
#define PUBLISH memory_order_relaxed
#define READ memory_order_relaxed
#endif
struct array {
    int size;
    atomic_int items[8];
};
static struct array small = {2, {0}}, big = {4, {0}};
static struct array *_Atomic array = &small;
static atomic_int top, bottom;

static void push(int item) {
    int last = atomic_load_explicit(&bottom, memory_order_relaxed);
    int first = atomic_load_explicit(&top, memory_order_acquire);
    struct array *now = atomic_load_explicit(&array, memory_order_relaxed);
    if (last - first >= now->size) {
        big.size = 8;
        for (int i = first; i < last; i++)
            atomic_store_explicit(&big.items[i % big.size],
                                  atomic_load_explicit(&now->items[i % now->size], memory_order_relaxed),
                                  memory_order_relaxed);
        atomic_store_explicit(&array, &big, PUBLISH);
        now = &big;
    }
    atomic_store_explicit(&now->items[last % now->size], item, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&bottom, last + 1, memory_order_relaxed);
}

BODY(steal) {
    int first = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    int last = atomic_load_explicit(&bottom, memory_order_acquire);
    if (first < last) {
        struct array *now = atomic_load_explicit(&array, READ);
        int item = atomic_load_explicit(&now->items[first % now->size], memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(&top, &first, first + 1, memory_order_seq_cst,
                                                    memory_order_relaxed))
            assert(item != 0);
    }
    return 0;
}

int main(void) {
    pthread_t thief = start(steal, 0);
    push(1);
    push(2);
    push(4);
    join(thief);
    return 0;
}
