// msqueue (PCTWM): a Michael-Scott queue whose new nodes are linked by relaxed stores. RC11.
#include "suite.h"

#ifdef FIXED
#define LINK memory_order_release
#define READ memory_order_acquire
#else
#define LINK memory_order_relaxed
#define READ memory_order_relaxed
#endif
struct node {
    int value;
    struct node *_Atomic next;
};
static struct node dummy;
static struct node *_Atomic head = &dummy, *_Atomic tail = &dummy;

static void enqueue(struct node *new, int value) {
    new->value = value;
    atomic_init(&new->next, 0);
    for (;;) {
        struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
        struct node *next = 0;
        if (atomic_compare_exchange_strong_explicit(&last->next, &next, new, LINK, READ)) {
            atomic_compare_exchange_strong_explicit(&tail, &last, new, LINK, memory_order_relaxed);
            return;
        }
        atomic_compare_exchange_strong_explicit(&tail, &last, next, memory_order_release, memory_order_relaxed);
    }
}

static int dequeue(void) {
    for (;;) {
        struct node *first = atomic_load_explicit(&head, memory_order_acquire);
        struct node *next = atomic_load_explicit(&first->next, READ);
        if (!next)
            return 0;
        int value = next->value;
        if (atomic_compare_exchange_strong_explicit(&head, &first, next, memory_order_acq_rel, memory_order_acquire))
            return value;
    }
}

static struct node nodes[2];

BODY(work) {
    int me = (int)(intptr_t)argument;
    enqueue(&nodes[me], me + 1);
    assert(dequeue() >= 0);
    return 0;
}

int main(void) {
    pthread_t first = start(work, (void *)0), second = start(work, (void *)1);
    join(first);
    join(second);
    return 0;
}
