/* sd-bus: libsystemd's connection to a D-Bus bus, which lets a loop of others' drive it. Of its variadic functions none
   is needed: messages are written and read value by value. */
#include <systemd/sd-bus.h>
