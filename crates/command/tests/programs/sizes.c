// A value of eight bytes is stored at once and read in halves. Fails if the halves differ: FIXED reads them at once.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static union {
    uint64_t whole;
    uint32_t halves[2];
} value;

static void *store(void *unused) {
    __atomic_store_n(&value.whole, 0x0000000100000001ull, __ATOMIC_SEQ_CST);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, store, 0);
#ifdef FIXED
    uint64_t seen = __atomic_load_n(&value.whole, __ATOMIC_SEQ_CST);
    assert((uint32_t)seen == (uint32_t)(seen >> 32));
#else
    uint32_t low = __atomic_load_n(&value.halves[0], __ATOMIC_SEQ_CST);
    uint32_t high = __atomic_load_n(&value.halves[1], __ATOMIC_SEQ_CST);
    assert(low == high);
#endif
    pthread_join(thread, 0);
    return 0;
}
