/* bench_cold.c: cost of a whole process: wall time from fork to exit, processor time, and peak resident memory.
 *
 *   bench_cold MEASURE ROUNDS COMMAND [ARGUMENT...]
 *
 * Discards the output of the command. Prints the medians of the times and the highest peak of ROUNDS runs. If ROUNDS is
 * above 1, an extra first run loads the files into the page cache and is not counted. If the processor time is far
 * below the wall time, the machine had other work. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

enum { MAX_ROUNDS = 1000 };

struct cost {
    double wall_ms, processor_ms, peak_mb;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Runs the command once. Returns its exit status, or -1 if a signal ended it. */
static int run_command_once(char **command, struct cost *cost)
{
    double began = now_ms();
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0)
            _exit(127);
        execvp(command[0], command);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child)
        return -1;
    cost->wall_ms = now_ms() - began;
    cost->processor_ms = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
                         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
    cost->peak_mb = (double)usage.ru_maxrss / 1024;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
    int rounds = argc > 3 ? atoi(argv[2]) : 0;
    if (rounds < 1 || rounds > MAX_ROUNDS) {
        fprintf(stderr, "usage: bench_cold MEASURE ROUNDS(1..%d) COMMAND [ARGUMENT...]\n", MAX_ROUNDS);
        return 2;
    }
    double wall[MAX_ROUNDS], processor[MAX_ROUNDS], peak = 0;
    for (int i = rounds > 1 ? -1 : 0; i < rounds; i++) {
        struct cost cost;
        int status = run_command_once(argv + 3, &cost);
        if (status != 0) {
            fprintf(stderr, "bench_cold: %s ended with status %d\n", argv[3], status);
            return 1;
        }
        if (i < 0)
            continue;
        wall[i] = cost.wall_ms;
        processor[i] = cost.processor_ms;
        peak = cost.peak_mb > peak ? cost.peak_mb : peak;
    }
    print_result(wall, (size_t)rounds, "ms", "whichtool", "%s", argv[1]);
    print_result(processor, (size_t)rounds, "ms", "whichtool", "%s, processor", argv[1]);
    printf("%s, peak memory\twhichtool\t%.1f\tMB\n", argv[1], peak);
    return 0;
}
