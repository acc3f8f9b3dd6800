/* coverage_exit.h: included first where a build for coverage ends a process by _exit(): gcov writes its counts before. */
#include <unistd.h>

void __gcov_dump(void);
#define _exit(status) (__gcov_dump(), _exit(status))
