// Opens a file in each execution, and fails in one of the two orders. HANDLER also changes what a signal does.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static _Atomic int first;

static void *thread(void *unused) {
    int zero = 0;
    atomic_compare_exchange_strong(&first, &zero, 1);
    return unused;
}

int main(void) {
#ifdef HANDLER
    signal(SIGUSR1, SIG_IGN);
#endif
    int file = open("/dev/null", O_RDONLY);
    pthread_t other;
    int zero = 0;
    pthread_create(&other, 0, thread, 0);
    atomic_compare_exchange_strong(&first, &zero, 2);
    pthread_join(other, 0);
    assert(file == 3);
    int other_was_first = first == 1;
    assert(other_was_first);
    return 0;
}
