// The last user of a shared object frees it, but looks at the count after giving its own use up.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    _Atomic int users;
    int value;
};

static void *release(void *argument) {
    struct object *object = argument;
#ifdef TWICE
    atomic_fetch_sub(&object->users, 1);
    if (atomic_load(&object->users) <= 0)
#else
    if (atomic_fetch_sub(&object->users, 1) == 1)
#endif
        free(object);
    return 0;
}

int main(void) {
    pthread_t one, other;
    struct object *object = malloc(sizeof *object);
    atomic_init(&object->users, 2);
    object->value = 1;
    pthread_create(&one, 0, release, object);
    pthread_create(&other, 0, release, object);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
