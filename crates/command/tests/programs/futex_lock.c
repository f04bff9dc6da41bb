// A lock of the program's own, on futexes: Drepper's second mutex. Two threads count under it.
// LOST forgets to wake a waiter, RAW makes the system call by its instruction, ABBA takes two locks in both orders.
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static long futex(atomic_int *place, int operation, int value) {
#ifdef RAW
    long result;
    register long fourth __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_futex), "D"(place), "S"(operation), "d"(value), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
#else
    return syscall(SYS_futex, place, operation, value, 0, 0, 0);
#endif
}

static void lock(atomic_int *place) {
    int seen = 0;
    if (atomic_compare_exchange_strong(place, &seen, 1))
        return;
    if (seen != 2)
        seen = atomic_exchange(place, 2);
    while (seen != 0) {
        futex(place, FUTEX_WAIT_PRIVATE, 2);
        seen = atomic_exchange(place, 2);
    }
}

static void unlock(atomic_int *place) {
#ifdef LOST
    atomic_store(place, 0);
#else
    if (atomic_fetch_sub(place, 1) != 1) {
        atomic_store(place, 0);
        futex(place, FUTEX_WAKE_PRIVATE, 1);
    }
#endif
}

static atomic_int first, second;
static int counter;

static void *work(void *is_other) {
#ifdef ABBA
    lock(is_other ? &second : &first);
    lock(is_other ? &first : &second);
    counter++;
    unlock(&first);
    unlock(&second);
#else
    lock(&first);
    counter++;
    unlock(&first);
#endif
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, &counter);
    work(0);
    pthread_join(thread, 0);
    assert(counter == 2);
    return 0;
}
