// Two threads use a static variable that the first of them initialises, and a function that is called once. Correct.
#include <cassert>
#include <mutex>
#include <thread>

static int initialisations, calls;
static std::once_flag flag;

static int initialise() { return ++initialisations; }

static int &shared() {
    static int value = initialise();
    return value;
}

static void work() {
    assert(shared() == 1);
    std::call_once(flag, [] { calls++; });
    assert(calls == 1);
}

int main() {
    std::thread other(work);
    work();
    other.join();
    assert(initialisations == 1);
}
