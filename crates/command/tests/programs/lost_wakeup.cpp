// The flag is set without the lock, so that the notification can come between the test and the wait.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable changed;
static std::atomic<bool> ready;

int main() {
    std::thread waiter([] {
        std::unique_lock<std::mutex> guard(mutex);
        while (!ready)
            changed.wait(guard);
    });
    ready = true;
#ifdef FIXED
    std::lock_guard<std::mutex>{mutex};
#endif
    changed.notify_one();
    waiter.join();
}
