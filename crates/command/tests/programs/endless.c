// A program that never ends, or waits for something outside of it. The argument says how.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *which;
static atomic_int flag, counter;

static int is(const char *name) { return !strcmp(which, name); }

static void *work(void *unused) {
    char answer[10];
    int ends[2];
    while (is("loads") && !atomic_load(&flag))
        ;
    while (is("yields") && !atomic_load(&flag))
        sched_yield();
    while (is("sleeps") && !atomic_load(&flag))
        usleep(10);
    while (is("adds"))
        atomic_fetch_add(&counter, 1);
    while (is("computes"))
        __asm__ volatile("");
    if (is("pipe") && pipe(ends) == 0)
        return (void *)(long)read(ends[0], answer, 1);
    if (is("terminal")) {
        FILE *terminal = fopen("/dev/tty", "r+");
        if (terminal)
            fgets(answer, sizeof answer, terminal);
    }
    return 0;
}

int main(int count, char **arguments) {
    pthread_t thread;
    which = arguments[1];
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
