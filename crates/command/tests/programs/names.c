// Defines functions with names that other code uses too. Correct.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int calls;
int act(void) { return ++calls; }
int state(void) { return ++calls; }
int run(void) { return ++calls; }
int host(void) { return ++calls; }
int lock(void) { return ++calls; }
int switch_to(void) { return ++calls; }
int mix(void) { return ++calls; }
int rust_eh_personality(void) { return ++calls; }
void bzero(void *place, size_t size) {
    for (size_t i = 0; i < size; i++)
        ((char *)place)[i] = 0;
}

static void *work(void *unused) { return unused; }

int main(void) {
    char bytes[4] = "abc";
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    bzero(bytes, sizeof bytes);
    assert(bytes[0] == 0);
    assert(act() == 1 && state() == 2 && run() == 3 && host() == 4 && lock() == 5 && switch_to() == 6 && mix() == 7);
    assert(rust_eh_personality() == 8);
    return 0;
}
