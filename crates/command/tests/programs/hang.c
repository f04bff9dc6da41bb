// A loop waits for a store that only another thread can make, and gives it no chance.
#include <pthread.h>

static volatile int stop;

__attribute__((no_sanitize("thread"))) static void *spin(void *unused) {
    while (!stop) {
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, spin, 0);
    stop = 1;
    pthread_join(thread, 0);
    return 0;
}
