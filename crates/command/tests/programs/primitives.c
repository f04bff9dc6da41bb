// Two threads use the primitives that the arguments name, in this order. Correct.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static char **names;
static _Atomic int variable, word, other;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t condvar = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static pthread_spinlock_t spin;
static sem_t semaphore, tokens;
static mtx_t c11;
static int ready, inits, flag_inits;

static void init(void) { inits++; }
static void init_flag(void) { flag_inits++; }

static struct timespec in_a_second(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec++;
    return time;
}

static long futex(_Atomic int *place, int operation, int value, void *time, _Atomic int *second, int mask) {
    return syscall(SYS_futex, place, operation, value, time, second, mask);
}

static void use(const char *name, int is_main) {
    struct timespec limit = in_a_second();
    if (!strcmp(name, "atomic")) {
        int seen = atomic_load(&variable);
        atomic_store(&variable, seen + 1);
    } else if (!strcmp(name, "exchange")) {
        int seen = 0;
        atomic_compare_exchange_strong(&variable, &seen, 1 + is_main);
    } else if (!strcmp(name, "mutex")) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    } else if (!strcmp(name, "trylock")) {
        if (pthread_mutex_trylock(&mutex) == 0)
            pthread_mutex_unlock(&mutex);
    } else if (!strcmp(name, "timedlock")) {
        if (pthread_mutex_timedlock(&mutex, &limit) == 0)
            pthread_mutex_unlock(&mutex);
    } else if (!strcmp(name, "recursive")) {
        pthread_mutex_lock(&recursive);
        pthread_mutex_lock(&recursive);
        pthread_mutex_unlock(&recursive);
        pthread_mutex_unlock(&recursive);
    } else if (!strcmp(name, "condvar")) {
        pthread_mutex_lock(&mutex);
        if (is_main) {
            ready = 1;
            pthread_cond_signal(&condvar);
        } else {
            while (!ready)
                pthread_cond_wait(&condvar, &mutex);
        }
        pthread_mutex_unlock(&mutex);
    } else if (!strcmp(name, "timedwait")) {
        pthread_mutex_lock(&mutex);
        if (is_main)
            pthread_cond_broadcast(&condvar);
        else if (pthread_cond_timedwait(&condvar, &mutex, &limit) == ETIMEDOUT) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            assert(now.tv_sec >= limit.tv_sec);
        }
        pthread_mutex_unlock(&mutex);
    } else if (!strcmp(name, "rwlock")) {
        if (is_main)
            pthread_rwlock_rdlock(&rwlock);
        else
            pthread_rwlock_wrlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    } else if (!strcmp(name, "readers")) {
        pthread_rwlock_rdlock(&rwlock);
        if (pthread_rwlock_tryrdlock(&rwlock) == 0)
            pthread_rwlock_unlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    } else if (!strcmp(name, "barrier")) {
        pthread_barrier_wait(&barrier);
    } else if (!strcmp(name, "once")) {
        pthread_once(&once, init);
        assert(inits == 1);
    } else if (!strcmp(name, "call_once")) {
        call_once(&flag, init_flag);
        assert(flag_inits == 1);
    } else if (!strcmp(name, "spin")) {
        pthread_spin_lock(&spin);
        pthread_spin_unlock(&spin);
    } else if (!strcmp(name, "semaphore")) {
        if (is_main)
            sem_post(&semaphore);
        else
            sem_wait(&semaphore);
    } else if (!strcmp(name, "tokens")) {
        if (sem_trywait(&tokens) == 0)
            sem_post(&tokens);
        else
            assert(errno == EAGAIN);
    } else if (!strcmp(name, "sem_timedwait")) {
        if (sem_timedwait(&tokens, &limit) == 0)
            sem_post(&tokens);
    } else if (!strcmp(name, "count")) {
        int count;
        sem_getvalue(&tokens, &count);
        if (is_main)
            sem_post(&tokens);
    } else if (!strcmp(name, "futex")) {
        if (is_main) {
            atomic_store(&word, 1);
            futex(&word, FUTEX_WAKE, 1, 0, 0, 0);
        } else {
            while (atomic_load(&word) == 0)
                futex(&word, FUTEX_WAIT, 0, 0, 0, 0);
        }
    } else if (!strcmp(name, "futex_timed")) {
        struct timespec time = {0, 1000};
        if (is_main)
            futex(&word, FUTEX_WAKE, 1, 0, 0, 0);
        else
            futex(&word, FUTEX_WAIT, atomic_load(&word), &time, 0, 0);
    } else if (!strcmp(name, "requeue")) {
        if (is_main) {
            futex(&word, FUTEX_CMP_REQUEUE, 0, (void *)1, &other, 0);
            atomic_store(&word, 1);
            futex(&word, FUTEX_WAKE, 1, 0, 0, 0);
            futex(&other, FUTEX_WAKE_BITSET, 1, 0, 0, 2);
        } else {
            futex(&word, FUTEX_WAIT_BITSET, 0, 0, 0, 3);
        }
    } else if (!strcmp(name, "c11")) {
        mtx_lock(&c11);
        mtx_unlock(&c11);
    } else if (!strcmp(name, "sleep")) {
        usleep(10);
        sched_yield();
    } else {
        abort();
    }
}

static void *work(void *is_main) {
    for (char **name = names; *name; name++)
        use(*name, is_main != 0);
    return 0;
}

int main(int count, char **arguments) {
    pthread_t thread;
    names = arguments + (count > 0);
    pthread_barrier_init(&barrier, 0, 2);
    pthread_spin_init(&spin, 0);
    sem_init(&semaphore, 0, 0);
    sem_init(&tokens, 0, 1);
    mtx_init(&c11, mtx_plain);
    pthread_create(&thread, 0, work, 0);
    work(names);
    pthread_join(thread, 0);
    return 0;
}
