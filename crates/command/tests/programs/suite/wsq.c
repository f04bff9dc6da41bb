// WSQ, IWSQ (CHESS): the work-stealing queue of the THE protocol whose push allows one item too many.
// SPIN: the lock of the queue is a spin lock of the program's own. STATE: the guard is right, and the bug is in a
// shared record of what each thread did, which is resized without a lock.
#include "suite.h"

enum { SIZE = 2, MASK = SIZE - 1, ITEMS = 4, STEALERS = 2, STEALS = 2 };
static atomic_int head, tail, slots[SIZE], runs[ITEMS];

#ifdef SPIN
static atomic_int gate;
static void acquire(void) {
    while (atomic_exchange(&gate, 1))
        sched_yield();
}
static void release(void) { atomic_store(&gate, 0); }
#else
MUTEX(gate);
static void acquire(void) { lock(&gate); }
static void release(void) { unlock(&gate); }
#endif

#if defined(FIXED) || defined(STATE)
enum { ROOM = MASK };
#else
enum { ROOM = MASK + 1 };
#endif

#ifdef STATE
MUTEX(records_lock);
static int *records, size;
static void record(int thread) {
#ifdef FIXED
    lock(&records_lock);
    if (size <= thread) {
#else
    if (size <= thread) {
#endif
        int *bigger = calloc(thread + 1, sizeof *bigger);
        for (int i = 0; i < size && i <= thread; i++)
            bigger[i] = records[i];
        records = bigger;
        size = thread + 1;
    }
    assert(thread < size);
    records[thread]++;
#ifdef FIXED
    unlock(&records_lock);
#endif
}
#else
static void record(int thread) { (void)thread; }
#endif

static int push(int item) {
    int last = atomic_load(&tail);
    if (last < atomic_load(&head) + ROOM) {
        atomic_store(&slots[last & MASK], item);
        atomic_store(&tail, last + 1);
        return 1;
    }
    return 0;
}

static int pop(int *item) {
    int last = atomic_load(&tail) - 1;
    atomic_store(&tail, last);
    if (atomic_load(&head) <= last) {
        *item = atomic_load(&slots[last & MASK]);
        return 1;
    }
    atomic_store(&tail, last + 1);
    acquire();
    last = atomic_load(&tail) - 1;
    atomic_store(&tail, last);
    int is_there = atomic_load(&head) <= last;
    if (is_there)
        *item = atomic_load(&slots[last & MASK]);
    else
        atomic_store(&tail, last + 1);
    release();
    return is_there;
}

static int steal(int *item) {
    acquire();
    int first = atomic_load(&head);
    atomic_store(&head, first + 1);
    int is_there = first < atomic_load(&tail);
    if (is_there)
        *item = atomic_load(&slots[first & MASK]);
    else
        atomic_store(&head, first);
    release();
    return is_there;
}

static void run(int item, int thread) {
    record(thread);
    atomic_fetch_add(&runs[item], 1);
}

BODY(stealer) {
    int item, thread = (int)(intptr_t)argument;
    for (int i = 0; i < STEALS; i++)
        if (steal(&item))
            run(item, thread);
    return 0;
}

int main(void) {
    pthread_t stealers[STEALERS];
    int item;
    for (int i = 0; i < STEALERS; i++)
        stealers[i] = start(stealer, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < ITEMS; i += 2) {
        for (int j = i; j < i + 2; j++)
            if (!push(j))
                run(j, 0);
        if (pop(&item))
            run(item, 0);
    }
    while (pop(&item))
        run(item, 0);
    for (int i = 0; i < STEALERS; i++)
        join(stealers[i]);
    for (int i = 0; i < ITEMS; i++)
        assert(atomic_load(&runs[i]) == 1);
    return 0;
}
