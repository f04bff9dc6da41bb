// What raddle does not model. The argument says what.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *idle(void *unused) { return unused; }

int main(int count, char **arguments) {
    const char *which = arguments[1];
    char *words[] = {"true", 0};
    pthread_t thread;
    int word = 0;
    pthread_create(&thread, 0, idle, 0);
    if (!strcmp(which, "fork"))
        fork();
    if (!strcmp(which, "vfork"))
        syscall(SYS_vfork);
    if (!strcmp(which, "system"))
        system("true");
    if (!strcmp(which, "popen"))
        popen("true", "r");
    if (!strcmp(which, "posix_spawn"))
        posix_spawnp(&(pid_t){0}, "true", 0, 0, words, words + 1);
    if (!strcmp(which, "execve"))
        execv("/bin/true", words);
    if (!strcmp(which, "pthread_cancel"))
        pthread_cancel(thread);
    if (!strcmp(which, "pthread_sigqueue"))
        pthread_sigqueue(thread, SIGUSR1, (union sigval){0});
    if (!strcmp(which, "sem_open"))
        sem_open("/raddle", O_CREAT, 0600, 1);
    if (!strcmp(which, "futex_pi"))
        syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, 0, 0, 0);
    if (!strcmp(which, "dlopen"))
        dlopen("./plugin.so", RTLD_NOW);
    if (!strcmp(which, "alarm"))
        alarm(1);
    pthread_join(thread, 0);
    return 0;
}
