/* libpsl: the list of public suffixes. libidn2: names of hosts in other scripts as ASCII. */
#include <idn2.h>
#include <libpsl.h>
