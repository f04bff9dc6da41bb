// Wrong uses of the heap by two threads. The argument says which.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *which;
static char *block;

static int is(const char *name) { return !strcmp(which, name); }

static void *use(void *unused) {
    if (is("beyond"))
        block[16] = 1;
    if (is("before"))
        block[-1] = 1;
    if (is("copy"))
        memset(block, 0, 17);
    if (is("twice"))
        free(block);
    if (is("inside"))
        free(block + 8);
    return 0;
}

int main(int count, char **arguments) {
    pthread_t thread;
    which = arguments[1];
    block = malloc(16);
    if (is("twice"))
        free(block);
    pthread_create(&thread, 0, use, 0);
    pthread_join(thread, 0);
    if (!is("leak") && !is("twice"))
        free(block);
    block = 0;
    return 0;
}
