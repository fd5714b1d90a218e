// Loads the libraries that it is linked with, and waits to be killed.
#include <unistd.h>

int main() {
  for (;;) pause();
}
