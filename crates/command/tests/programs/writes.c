// Two threads write to standard output and to a file, in the order of the schedule. What was in the file and in standard
// input before is shown.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;

static void *write_name(void *name) {
    pthread_mutex_lock(&mutex);
    printf("thread %s\n", (char *)name);
    fprintf(file, "%s\n", (char *)name);
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    char line[80];
    pthread_t one, other;
    if (fgets(line, sizeof line, stdin))
        printf("read %s", line);
    FILE *before = fopen("log.txt", "r");
    if (before) {
        printf("log.txt exists\n");
        fclose(before);
    }
    file = fopen("log.txt", "w");
    pthread_create(&one, 0, write_name, "one");
    pthread_create(&other, 0, write_name, "two");
    pthread_join(one, 0);
    pthread_join(other, 0);
    fclose(file);
    return 0;
}
