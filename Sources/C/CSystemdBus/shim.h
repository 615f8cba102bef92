/* sd-bus: libsystemd's connection to a D-Bus bus, which an external event loop can drive. None of its variadic
   functions is needed: messages are written and read value by value. */
#include <systemd/sd-bus.h>
