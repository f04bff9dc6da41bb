// stack (SCTBench): a flag that stays set says that there is something to pop.
#include "suite.h"

enum { ITEMS = 10 };
static int top, items[ITEMS], flag;
MUTEX(mutex);

BODY(push) {
    for (int i = 0; i < ITEMS; i++) {
        lock(&mutex);
        items[top++] = i;
        flag = 1;
        unlock(&mutex);
    }
    return 0;
}

BODY(pop) {
    for (int i = 0; i < ITEMS; i++) {
        lock(&mutex);
#ifdef FIXED
        if (top > 0) {
#else
        if (flag) {
#endif
            assert(top > 0);
            top--;
        }
        unlock(&mutex);
    }
    return 0;
}

int main(void) {
    pthread_t pusher = start(push, 0), popper = start(pop, 0);
    join(pusher);
    join(popper);
    return 0;
}
