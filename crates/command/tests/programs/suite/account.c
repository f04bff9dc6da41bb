// account (SCTBench): the check expects another balance if both others are done. Nobody joins.
#include "suite.h"

static int balance = 1, deposit_done, withdraw_done;
MUTEX(mutex);

BODY(check) {
    lock(&mutex);
    if (deposit_done && withdraw_done)
#ifdef FIXED
        assert(balance == -1);
#else
        assert(balance == -5);
#endif
    unlock(&mutex);
    return 0;
}

BODY(deposit) {
    lock(&mutex);
    balance += 2;
    deposit_done = 1;
    unlock(&mutex);
    return 0;
}

BODY(withdraw) {
    lock(&mutex);
    balance -= 4;
    withdraw_done = 1;
    unlock(&mutex);
    return 0;
}

int main(void) {
    start(check, 0);
    start(deposit, 0);
    start(withdraw, 0);
    return 0;
}
