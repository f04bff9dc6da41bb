// Starts a process, which raddle does not model.
#include <unistd.h>

int main(void) {
    return fork() == 0;
}
