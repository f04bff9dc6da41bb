// radbench-bug6 (SCTBench): a thread takes a lock to read twice, and a writer that waits in between comes first.
// FIXED: it takes it once. KIND: the lock does not prefer writers, so that the second time cannot block.
#include "suite.h"

static pthread_rwlock_t rwlock;
static int value;

BODY(read_value) {
    pthread_rwlock_rdlock(&rwlock);
    int seen = value;
#ifndef FIXED
    pthread_rwlock_rdlock(&rwlock);
#endif
    assert(seen == value);
#ifndef FIXED
    pthread_rwlock_unlock(&rwlock);
#endif
    pthread_rwlock_unlock(&rwlock);
    return 0;
}

int main(void) {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
#ifndef KIND
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(&rwlock, &attributes);
    pthread_t reader = start(read_value, 0);
    pthread_rwlock_wrlock(&rwlock);
    value++;
    pthread_rwlock_unlock(&rwlock);
    join(reader);
    return 0;
}
