/* metrics_process.c: figures of the process from /proc (man 5 proc). */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "serve/metrics.h"

enum { STAT_FIELDS_MAX = 24 }; /* fields of /proc/self/stat that are read, counted from the state */

/* Reads the numbers behind the name of the process in /proc/self/stat. Field 3, the state, has the index 0. Returns
 * false if the file cannot be read. */
static bool read_stat_fields(double fields[STAT_FIELDS_MAX])
{
    char text[1024];
    FILE *file = fopen("/proc/self/stat", "re");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[len] = '\0';
    const char *at = strrchr(text, ')'); /* the name may contain blanks and parentheses */
    if (!at)
        return false;
    at++;
    for (size_t i = 0; i < STAT_FIELDS_MAX; i++) {
        double value = 0;
        int used = 0;
        if (i == 0 ? sscanf(at, " %*c%n", &used) < 0 : sscanf(at, " %lf%n", &value, &used) != 1)
            return false;
        fields[i] = value;
        at += used;
    }
    return true;
}

static size_t count_open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;
    if (!folder)
        return 0;
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count - 1; /* without the descriptor of the folder */
}

void wt__metrics_write_process(struct buffer *out, double started)
{
    enum { UTIME = 11, STIME = 12, THREADS = 17, VSIZE = 20, RSS = 21 };
    double fields[STAT_FIELDS_MAX], ticks = (double)sysconf(_SC_CLK_TCK);
    struct rlimit files;
    size_t open = count_open_files();
    wt__metric_write(out, "process_start_time_seconds", "gauge", "Start time as seconds since 1970.", started);
    wt__metric_write(out, "whichtool_uptime_seconds", "gauge", "Time since the start.", (double)time(NULL) - started);
    if (read_stat_fields(fields)) {
        wt__metric_write(out, "process_cpu_seconds_total", "counter", "Processor time, with the system's part.",
                         (fields[UTIME] + fields[STIME]) / ticks);
        wt__metric_write(out, "process_resident_memory_bytes", "gauge", "Resident memory.",
                         fields[RSS] * (double)sysconf(_SC_PAGESIZE));
        wt__metric_write(out, "process_virtual_memory_bytes", "gauge", "Virtual memory.", fields[VSIZE]);
        wt__metric_write(out, "process_threads", "gauge", "Threads.", fields[THREADS]);
    }
    if (open > 0)
        wt__metric_write(out, "process_open_fds", "gauge", "Open file descriptors.", (double)open);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        wt__metric_write(out, "process_max_fds", "gauge", "Limit of open file descriptors.", (double)files.rlim_cur);
}
