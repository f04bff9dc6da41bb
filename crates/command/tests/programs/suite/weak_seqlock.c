// seqlock (PCTWM): a writer takes the sequence number by a relaxed exchange, and readers see halves of two writes. RC11.
#include "suite.h"

#ifdef FIXED
#define TAKE memory_order_acq_rel
#define LOAD memory_order_acquire
#else
#define TAKE memory_order_relaxed
#define LOAD memory_order_relaxed
#endif
static atomic_int sequence, first, second;

static int try_write(int value) {
    int now = atomic_load_explicit(&sequence, LOAD);
    if (now % 2)
        return 0;
    if (!atomic_compare_exchange_strong_explicit(&sequence, &now, now + 1, TAKE, memory_order_relaxed))
        return 0;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&first, value, memory_order_release);
    atomic_store_explicit(&second, value, memory_order_release);
    atomic_fetch_add_explicit(&sequence, 1, memory_order_release);
    return 1;
}

BODY(write_value) {
    try_write((int)(intptr_t)argument);
    return 0;
}

int main(void) {
    pthread_t one = start(write_value, (void *)1), other = start(write_value, (void *)2);
    int before = atomic_load_explicit(&sequence, memory_order_acquire);
    int left = atomic_load_explicit(&first, memory_order_acquire);
    int right = atomic_load_explicit(&second, memory_order_acquire);
    atomic_thread_fence(memory_order_acquire);
    int after = atomic_load_explicit(&sequence, memory_order_relaxed);
    if (before == after && before % 2 == 0)
        assert(left == right);
    join(one);
    join(other);
    return 0;
}
