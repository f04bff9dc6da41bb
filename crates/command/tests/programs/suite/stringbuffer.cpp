// stringbuffer (SCTBench): the length that append reads is stale when it copies the characters.
#include "suite.h"
#include <string>

class Buffer {
  public:
    explicit Buffer(const char *text) : text(text) { pthread_mutex_init(&mutex, 0); }

    int length() {
        lock(&mutex);
        int result = text.size();
        unlock(&mutex);
        return result;
    }

    void append(Buffer &other) {
        lock(&mutex);
#ifdef FIXED
        lock(&other.mutex);
        text += other.text;
        unlock(&other.mutex);
#else
        int count = other.length();
        text += other.first(count);
#endif
        unlock(&mutex);
    }

    void append(const char *more) {
        lock(&mutex);
        text += more;
        unlock(&mutex);
    }

    void erase() {
        lock(&mutex);
        text.clear();
        unlock(&mutex);
    }

  private:
    std::string first(int count) {
        lock(&mutex);
        assert(count <= (int)text.size());
        std::string result = text.substr(0, count);
        unlock(&mutex);
        return result;
    }

    pthread_mutex_t mutex;
    std::string text;
};

static Buffer source("abcdefghijk"), target("");

BODY(change) {
    source.erase();
    source.append("abc");
    return 0;
}

int main() {
    pthread_t thread = start(change, 0);
    target.append(source);
    join(thread);
}
