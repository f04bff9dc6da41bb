// Atomic operations on 16 bytes: two threads count both halves. Link with -latomic or compile with -mcx16.
#include <assert.h>
#include <pthread.h>

typedef unsigned __int128 wide;
static wide counter;

static void *count(void *unused) {
    wide seen = __atomic_load_n(&counter, __ATOMIC_SEQ_CST), next;
#ifdef FIXED
    do
        next = seen + 1 + ((wide)1 << 64);
    while (!__atomic_compare_exchange_n(&counter, &seen, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
#else
    next = seen + 1 + ((wide)1 << 64);
    __atomic_store_n(&counter, next, __ATOMIC_SEQ_CST);
#endif
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, count, 0);
    count(0);
    pthread_join(thread, 0);
    wide seen = __atomic_load_n(&counter, __ATOMIC_SEQ_CST);
    assert((unsigned long)seen == 2 && (unsigned long)(seen >> 64) == 2);
    return 0;
}
