// din_phil2 to 7 (SCTBench, CHESS): each of N philosophers takes the left fork and then the right one.
#include "suite.h"

static pthread_mutex_t forks[N];
static int meals;
MUTEX(table);

BODY(eat) {
    int left = (int)(intptr_t)argument, right = (left + 1) % N;
#ifdef FIXED
    if (left > right) {
        int saved = left;
        left = right;
        right = saved;
    }
#endif
    lock(&forks[left]);
    lock(&forks[right]);
    lock(&table);
    meals++;
    unlock(&table);
    unlock(&forks[right]);
    unlock(&forks[left]);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_mutex_init(&forks[i], 0);
    for (int i = 0; i < N; i++)
        threads[i] = start(eat, (void *)(intptr_t)i);
    for (int i = 0; i < N; i++)
        join(threads[i]);
    assert(meals == N);
    return 0;
}
