// Loops that wait for another thread. The argument says how.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *which;
static atomic_int flag, lock, done;
static int counter, plain_flag, rounds;
static __thread int own_rounds;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int is(const char *name) { return !strcmp(which, name); }

static int try(void) {
    int free = 0;
    return atomic_compare_exchange_strong(&lock, &free, 1);
}

static void *work(void *number) {
    if (is("flag") || is("forever"))
        while (!atomic_load(&flag))
            ;
    if (is("yields") || is("yields_forever"))
        while (!atomic_load(&flag))
            sched_yield();
    if (is("sleeps"))
        while (!atomic_load(&flag))
            usleep(10);
    if (is("spins") || is("spins_forever")) {
        while (!try())
            sched_yield();
        counter++;
        if (is("spins"))
            atomic_store(&lock, 0);
    }
    if (is("tries")) {
        while (pthread_mutex_trylock(&mutex))
            ;
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    if (is("plain"))
        while (!*(volatile int *)&plain_flag)
            sched_yield();
    // Rounds are counted. The assertion of main fails only if there are three.
    if (is("counts"))
        for (int i = 0; !atomic_load(&flag); i++)
            if (i == 3) {
                atomic_store(&done, 1);
                break;
            }
    if (is("counts_in_memory"))
        while (!atomic_load(&flag))
            if (++rounds == 3) {
                atomic_store(&done, 1);
                break;
            }
    if (is("counts_in_thread"))
        while (!atomic_load(&flag))
            if (++own_rounds == 3) {
                atomic_store(&done, 1);
                break;
            }
    if (is("counts_on_heap")) {
        int *count = calloc(1, sizeof *count);
        while (!atomic_load(&flag))
            if (++*count == 3) {
                atomic_store(&done, 1);
                break;
            }
        free(count);
    }
    if (is("clock")) {
        struct timespec now, start;
        clock_gettime(CLOCK_MONOTONIC, &start);
        do {
            sched_yield();
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while (!atomic_load(&flag) && now.tv_sec < start.tv_sec + 1);
    }
    return number;
}

int main(int count, char **arguments) {
    pthread_t threads[2];
    int both;
    which = arguments[count - 1];
    both = is("spins") || is("spins_forever") || is("tries");
    for (int i = 0; i <= both; i++)
        pthread_create(&threads[i], 0, work, 0);
    if (strstr(which, "counts"))
        assert(!atomic_load(&done));
    if (!strstr(which, "forever")) {
        plain_flag = 1;
        atomic_store(&flag, 1);
    }
    for (int i = 0; i <= both; i++)
        pthread_join(threads[i], 0);
    assert(!both || counter == 2);
    return 0;
}
