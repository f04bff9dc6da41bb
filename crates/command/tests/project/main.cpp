#include <cassert>
#include <thread>

extern "C" {
#include "counter.h"
}

int main() {
    std::thread other(count);
    count();
    other.join();
    assert(counted() == 2);
}
