// rwlock (PCTWM): writers take a lock by a relaxed subtraction, and readers see two writes in different orders. RC11.
#include "suite.h"

#ifdef FIXED
#define TAKE memory_order_acquire
#else
#define TAKE memory_order_relaxed
#endif
enum { FREE = 16, THREADS = 3 };
static atomic_int word = FREE, first, second;

static int try_take(int weight) {
    if (atomic_fetch_sub_explicit(&word, weight, TAKE) >= weight)
        return 1;
    atomic_fetch_add_explicit(&word, weight, memory_order_relaxed);
    return 0;
}

static void give(int weight) { atomic_fetch_add_explicit(&word, weight, memory_order_release); }

BODY(work) {
    int me = (int)(intptr_t)argument;
    for (int i = 0; i < 2; i++) {
        if (try_take(FREE)) {
            atomic_store_explicit(&first, me * 2 + i, memory_order_relaxed);
            atomic_store_explicit(&second, me * 2 + i, memory_order_relaxed);
            give(FREE);
        }
        if (try_take(1)) {
            int left = atomic_load_explicit(&first, memory_order_relaxed);
            int right = atomic_load_explicit(&second, memory_order_relaxed);
            assert(left == right);
            give(1);
        }
    }
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(work, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < THREADS; i++)
        join(threads[i]);
    return 0;
}
