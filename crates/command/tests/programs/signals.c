// Signals that the program sends to itself. The argument says how.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *which;
static _Atomic int handled, waiting;
static pthread_t other;

static int is(const char *name) { return !strcmp(which, name); }

static void handle(int signal) { atomic_fetch_add(&handled, signal == SIGUSR1); }

static void install(void) {
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR1, &action, 0);
}

static sigset_t set_of(int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return set;
}

// A thread for signals, as in many programs: all others block them.
static void *serve(void *unused) {
    sigset_t set = set_of(SIGUSR1);
    int signal;
    sigaddset(&set, SIGTERM);
    atomic_store(&waiting, 1);
    assert(sigwait(&set, &signal) == 0);
    assert(signal == SIGTERM);
    return 0;
}

static void *unblock(void *unused) {
    sigset_t set = set_of(SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, 0);
    atomic_fetch_add(&waiting, 1);
    return 0;
}

static void *idle(void *unused) {
    atomic_fetch_add(&waiting, 1);
    return 0;
}

static void *tell_main(void *unused) {
    assert(kill(getpid(), SIGUSR1) == 0);
    return 0;
}

int main(int count, char **arguments) {
    sigset_t set = set_of(SIGUSR1), old, none;
    which = arguments[1];
    sigemptyset(&none);
    if (is("ends"))
        raise(SIGTERM);
    if (is("ends_by_kill")) {
        // A process in the background inherits that this signal is ignored.
        struct sigaction standard = {.sa_handler = SIG_DFL};
        sigaction(SIGINT, &standard, 0);
        kill(getpid(), SIGINT);
    }
    if (is("raises")) {
        install();
        assert(raise(SIGUSR1) == 0 && handled == 1);
        assert(kill(getpid(), SIGUSR1) == 0 && handled == 2);
        signal(SIGUSR2, SIG_IGN);
        assert(raise(SIGUSR2) == 0 && raise(SIGCHLD) == 0);
        // A signal that is blocked waits.
        pthread_sigmask(SIG_BLOCK, &set, &old);
        raise(SIGUSR1);
        assert(handled == 2);
        sigpending(&set);
        assert(sigismember(&set, SIGUSR1));
        pthread_sigmask(SIG_SETMASK, &old, 0);
        assert(handled == 3);
    }
    if (is("waits")) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, 0);
        pthread_create(&other, 0, serve, 0);
        assert(pthread_kill(other, SIGTERM) == 0);
        pthread_join(other, 0);
        assert(waiting == 1);
    }
    if (is("waits_forever")) {
        pthread_sigmask(SIG_BLOCK, &set, 0);
        pthread_create(&other, 0, serve, 0);
        pthread_join(other, 0);
    }
    if (is("suspends")) {
        install();
        pthread_sigmask(SIG_BLOCK, &set, 0);
        pthread_create(&other, 0, tell_main, 0);
        assert(handled == 0);
        sigsuspend(&none);
        assert(handled == 1);
        pthread_join(other, 0);
    }
    if (is("times_out")) {
        struct timespec limit = {1, 0};
        pthread_sigmask(SIG_BLOCK, &set, 0);
        pthread_create(&other, 0, idle, 0);
        assert(sigtimedwait(&set, 0, &limit) == -1);
        pthread_join(other, 0);
    }
    // What is refused.
    if (is("interrupts")) {
        install();
        pthread_create(&other, 0, idle, 0);
        pthread_kill(other, SIGUSR1);
    }
    if (is("unblocks")) {
        install();
        pthread_sigmask(SIG_BLOCK, &set, 0);
        pthread_create(&other, 0, unblock, 0);
        pthread_kill(other, SIGUSR1);
        pthread_join(other, 0);
    }
    if (is("tgkill")) {
        install();
        pthread_create(&other, 0, idle, 0);
        syscall(SYS_tgkill, getpid(), getpid() + 1, SIGUSR1);
    }
    if (is("process")) {
        install();
        pthread_create(&other, 0, tell_main, 0);
        pthread_join(other, 0);
    }
    if (is("other_process"))
        kill(getppid(), SIGUSR1);
    return 0;
}
