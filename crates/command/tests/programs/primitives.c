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
static cnd_t c11_changed;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t writers = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static pthread_key_t key;
static tss_t c11_key;
static int ready, c11_ready, inits, flag_inits;

static void init(void) { inits++; }
static void init_flag(void) { flag_inits++; }

// Called at the end of a thread.
static void end_of_value(void *value) { atomic_fetch_add((_Atomic int *)value, 1); }

static void *add(void *value) {
    atomic_fetch_add((_Atomic int *)value, 1);
    return value;
}

static int add_c11(void *value) {
    atomic_fetch_add((_Atomic int *)value, 1);
    return 5;
}

// A thread that nobody joins says by a semaphore that it has run.
static void *post(void *semaphore) {
    sem_post(semaphore);
    return 0;
}

// In a second, by two clocks.
static struct timespec limit, steady;

static long futex(_Atomic int *place, int operation, int value, void *time, _Atomic int *second, int mask) {
    return syscall(SYS_futex, place, operation, value, time, second, mask);
}

static void use(const char *name, int is_main) {
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
    } else if (!strcmp(name, "cnd")) {
        mtx_lock(&c11);
        if (is_main) {
            c11_ready = 1;
            cnd_broadcast(&c11_changed);
        } else {
            while (!c11_ready)
                cnd_wait(&c11_changed, &c11);
        }
        mtx_unlock(&c11);
    } else if (!strcmp(name, "c11_timed")) {
        if (mtx_timedlock(&c11, &limit) == thrd_success) {
            if (is_main)
                cnd_signal(&c11_changed);
            else
                cnd_timedwait(&c11_changed, &c11, &limit);
            mtx_unlock(&c11);
        }
    } else if (!strcmp(name, "clockwait")) {
        pthread_mutex_lock(&mutex);
        if (is_main)
            pthread_cond_signal(&condvar);
        else
            pthread_cond_clockwait(&condvar, &mutex, CLOCK_MONOTONIC, &steady);
        pthread_mutex_unlock(&mutex);
    } else if (!strcmp(name, "errorcheck")) {
        pthread_mutex_lock(&checking);
        assert(pthread_mutex_lock(&checking) == EDEADLK);
        pthread_mutex_unlock(&checking);
    } else if (!strcmp(name, "writers")) {
        if (is_main)
            pthread_rwlock_rdlock(&writers);
        else
            pthread_rwlock_wrlock(&writers);
        pthread_rwlock_unlock(&writers);
    } else if (!strcmp(name, "timed_rwlock")) {
        int result = is_main ? pthread_rwlock_timedrdlock(&rwlock, &limit) : pthread_rwlock_timedwrlock(&rwlock, &limit);
        if (result == 0)
            pthread_rwlock_unlock(&rwlock);
    } else if (!strcmp(name, "spin_try")) {
        if (pthread_spin_trylock(&spin) == 0)
            pthread_spin_unlock(&spin);
    } else if (!strcmp(name, "thread")) {
        pthread_t child;
        void *result;
        if (is_main) {
            atomic_load(&variable);
        } else {
            pthread_create(&child, 0, add, &variable);
            pthread_join(child, &result);
            assert(result == &variable);
        }
    } else if (!strcmp(name, "detached")) {
        if (is_main) {
            pthread_attr_t attributes;
            pthread_t child;
            pthread_attr_init(&attributes);
            pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
            pthread_create(&child, &attributes, post, &tokens);
            pthread_attr_destroy(&attributes);
            sem_wait(&tokens);
        } else {
            sem_trywait(&tokens);
            sem_post(&tokens);
        }
    } else if (!strcmp(name, "thrd")) {
        thrd_t child;
        int result;
        if (is_main) {
            thrd_create(&child, add_c11, &variable);
            thrd_yield();
            thrd_join(child, &result);
            assert(result == 5);
        } else {
            atomic_load(&variable);
        }
    } else if (!strcmp(name, "key")) {
        if (is_main)
            atomic_load(&variable);
        else
            pthread_setspecific(key, &variable);
    } else if (!strcmp(name, "tss")) {
        if (is_main)
            atomic_load(&other);
        else
            tss_set(c11_key, &other);
    } else if (!strcmp(name, "raw_futex")) {
        // Not by a function of libc.
        long result, wakes = is_main;
        register long time asm("r10") = 0;
        if (wakes)
            atomic_store(&word, 1);
        asm volatile("syscall"
                     : "=a"(result)
                     : "a"((long)SYS_futex), "D"(&word), "S"((long)(wakes ? FUTEX_WAKE : FUTEX_WAIT)), "d"(wakes),
                       "r"(time)
                     : "rcx", "r11", "memory");
        assert(wakes ? result >= 0 : result == 0 || result == -EAGAIN);
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
    clock_gettime(CLOCK_REALTIME, &limit);
    clock_gettime(CLOCK_MONOTONIC, &steady);
    limit.tv_sec++;
    steady.tv_sec++;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_spin_init(&spin, 0);
    sem_init(&semaphore, 0, 0);
    sem_init(&tokens, 0, 1);
    mtx_init(&c11, mtx_timed);
    cnd_init(&c11_changed);
    pthread_key_create(&key, end_of_value);
    tss_create(&c11_key, (tss_dtor_t)end_of_value);
    pthread_create(&thread, 0, work, 0);
    work(names);
    pthread_join(thread, 0);
    return 0;
}
