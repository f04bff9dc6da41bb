// MRSE (BPOR, CHESS): an event in one word reads the word again while it updates it, and loses a waiter.
#include "suite.h"

enum { SET = 1, WAITER = 2 };
static atomic_int word;
MUTEX(mutex);
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static int update(int clear, int bits) {
    for (;;) {
        int old = atomic_load(&word);
#ifdef FIXED
        int new = (old & ~clear) | bits;
#else
        int new = (atomic_load(&word) & ~clear) | bits;
#endif
        int expected = old;
        if (atomic_compare_exchange_strong(&word, &expected, new))
            return old;
    }
}

BODY(wait_for_set) {
    if (atomic_load(&word) & SET)
        return 0;
    lock(&mutex);
    while (!(update(0, WAITER) & SET))
        pthread_cond_wait(&changed, &mutex);
    unlock(&mutex);
    return 0;
}

static void set(void) {
    if (atomic_load(&word) & SET)
        return;
    if (update(WAITER, SET) & WAITER) {
        lock(&mutex);
        pthread_cond_broadcast(&changed);
        unlock(&mutex);
    }
}

BODY(toggle) {
    set();
    update(SET, 0);
    set();
    return 0;
}

int main(void) {
    pthread_t waiter = start(wait_for_set, 0), setter = start(toggle, 0);
    join(waiter);
    join(setter);
    return 0;
}
