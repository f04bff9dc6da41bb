// Ends with code 3 if the second thread was faster.
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int last;

static void *write_last(void *number) {
    atomic_store(&last, (int)(long)number);
    return 0;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, write_last, (void *)1L);
    pthread_create(&other, 0, write_last, (void *)2L);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return last == 2 ? 0 : 3;
}
