// mpmcqueue (PCTWM): a slot of a queue is marked as written by a relaxed addition. RC11.
#include "suite.h"

#ifdef FIXED
#define WRITTEN memory_order_release
#else
#define WRITTEN memory_order_relaxed
#endif
enum { SLOTS = 4 };
static int slots[SLOTS];
static atomic_int claimed, written, taken;

static void add(int value) {
    int slot = atomic_fetch_add_explicit(&claimed, 1, memory_order_acq_rel);
    slots[slot] = value;
    while (atomic_load_explicit(&written, memory_order_acquire) != slot)
        sched_yield();
    atomic_fetch_add_explicit(&written, 1, WRITTEN);
}

static int take(void) {
    int slot = atomic_load_explicit(&taken, memory_order_acquire);
    while (slot < atomic_load_explicit(&written, memory_order_acquire))
        if (atomic_compare_exchange_strong_explicit(&taken, &slot, slot + 1, memory_order_acq_rel, memory_order_acquire))
            return slots[slot];
    return 0;
}

BODY(write_one) {
    add(2);
    return 0;
}

BODY(read_one) {
    assert(take() >= 0);
    return 0;
}

int main(void) {
    add(1);
    pthread_t threads[] = {start(write_one, 0), start(write_one, 0), start(read_one, 0), start(read_one, 0)};
    for (int i = 0; i < 4; i++)
        join(threads[i]);
    return 0;
}
