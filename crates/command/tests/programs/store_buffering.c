// Each thread can miss the store of the other one, unless the accesses are sequentially consistent.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int x, y;
static int first, second;

static void *one(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    first = atomic_load_explicit(&y, memory_order_relaxed);
    return unused;
}

static void *two(void *unused) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    second = atomic_load_explicit(&x, memory_order_relaxed);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(first || second);
    return 0;
}
