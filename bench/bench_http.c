/* bench_http.c: load generator for a local HTTP server, on one thread, for bench/serving.py.
 *
 *   bench_http ADDRESS CONNECTIONS SECONDS RATE FILE...
 *       ADDRESS  127.0.0.1:PORT or unix:PATH
 *       RATE     requests a second, at random times (Poisson). If all connections are busy, a request waits, and its
 *                latency includes the wait. 0: each connection sends its next request as soon as it has an answer
 *       FILE     raw bytes of one request. The files are sent in turn. Answers must have a Content-Length
 *   bench_http hold ADDRESS CONNECTIONS FILE
 *       Opens the connections one by one, sends the request in FILE on each, and waits for the first byte of the
 *       answer. Then prints the number of connections, and keeps them open until standard input ends. If FILE is empty,
 *       nothing is sent.
 *
 * Prints one JSON object. Times are in microseconds. Statuses are counted by their first digit. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

enum { REQUESTS_MAX = 4096, INPUT_BYTES = 64 << 10, EVENTS = 256, ARRIVALS_MAX = 1 << 16, SEED = 24 };

struct load_request {
    char *bytes;
    size_t len;
};

struct load_client {
    int descriptor;
    bool busy;
    double asked_us;   /* time when the request was due */
    size_t have, want; /* bytes received; bytes of the whole answer, 0 until its head has arrived */
    char head[4096];
};

static struct load_bench {
    struct load_request requests[REQUESTS_MAX];
    size_t request_count, next_request;
    struct load_client *clients;
    size_t client_count, free_count;
    struct load_client **free;
    double arrivals[ARRIVALS_MAX]; /* ring of the times of requests that wait for a connection */
    size_t first_arrival, arrival_count;
    float *times;
    size_t time_count, time_capacity, by_status[10], errors, given_up;
    uint64_t random;
    double rate, until_us;
    int epoll;
} bench = {.random = SEED};

static double now_us(void)
{
    return wt__now_ms() * 1e3;
}

static void exit_with_errno(const char *what)
{
    fprintf(stderr, "bench_http: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void read_request(const char *path)
{
    struct load_request *request = &bench.requests[bench.request_count++];
    FILE *file = fopen(path, "rb");
    request->bytes = malloc(1 << 20);
    if (!file || !request->bytes)
        exit_with_errno(path);
    request->len = fread(request->bytes, 1, 1 << 20, file);
    fclose(file);
}

static int connect_to(const char *address)
{
    const char *port = strrchr(address, ':') + 1;
    struct sockaddr_in network = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    bool is_unix = strncmp(address, "unix:", 5) == 0;
    int on = 1, descriptor = socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    if (is_unix)
        snprintf(local.sun_path, sizeof local.sun_path, "%s", address + 5);
    if (descriptor < 0 || connect(descriptor, is_unix ? (struct sockaddr *)&local : (struct sockaddr *)&network,
                                  is_unix ? sizeof local : sizeof network) < 0)
        exit_with_errno(address);
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return descriptor;
}

static double random_unit(void)
{
    bench.random ^= bench.random << 13;
    bench.random ^= bench.random >> 7;
    bench.random ^= bench.random << 17;
    return (double)(bench.random >> 11) / 9007199254740992.0;
}

static void start_request(struct load_client *client, double moment_us)
{
    const struct load_request *request = &bench.requests[bench.next_request++ % bench.request_count];
    client->busy = true;
    client->asked_us = moment_us;
    client->have = client->want = 0;
    if (send(client->descriptor, request->bytes, request->len, MSG_NOSIGNAL) != (ssize_t)request->len)
        exit_with_errno("send");
}

static void note_time(double us)
{
    if (wt__grow((void **)&bench.times, &bench.time_capacity, bench.time_count + 1, sizeof *bench.times) < 0)
        exit_with_errno("memory");
    bench.times[bench.time_count++] = (float)us;
}

static void answered(struct load_client *client)
{
    double now = now_us();
    note_time(now - client->asked_us);
    bench.by_status[(client->head[9] - '0') % 10]++;
    client->busy = false;
    if (bench.rate == 0 && now < bench.until_us) {
        start_request(client, now);
    } else if (bench.arrival_count > 0) {
        double moment = bench.arrivals[bench.first_arrival++ % ARRIVALS_MAX];
        bench.arrival_count--;
        start_request(client, moment);
    } else {
        bench.free[bench.free_count++] = client;
    }
}

/* Sets `want` if the head of the answer has arrived. Exits if the head is too long or has no Content-Length. */
static void read_head(struct load_client *client, size_t in_head)
{
    client->head[in_head] = '\0';
    const char *end = strstr(client->head, "\r\n\r\n");
    const char *length = strcasestr(client->head, "\r\ncontent-length:");
    if (end && length && length < end)
        client->want = (size_t)(end - client->head) + 4 + strtoul(length + 17, NULL, 10);
    else if (end || in_head == sizeof client->head - 1)
        exit_with_errno("an answer without a length");
}

/* Removes a closed connection. Counts an error only if the client waits for an answer: a server may close idle
 * connections. */
static void lose(struct load_client *client)
{
    epoll_ctl(bench.epoll, EPOLL_CTL_DEL, client->descriptor, NULL);
    bench.errors += client->busy;
    for (size_t i = 0; i < bench.free_count; i++)
        if (bench.free[i] == client)
            bench.free[i--] = bench.free[--bench.free_count];
}

static void receive_response(struct load_client *client)
{
    static char input[INPUT_BYTES];
    ssize_t got = recv(client->descriptor, input, sizeof input, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0) {
        lose(client);
        return;
    }
    size_t room = sizeof client->head - 1 - client->have;
    if (client->have < sizeof client->head - 1)
        memcpy(client->head + client->have, input, (size_t)got < room ? (size_t)got : room);
    client->have += (size_t)got;
    if (client->want == 0)
        read_head(client, client->have < sizeof client->head - 1 ? client->have : sizeof client->head - 1);
    if (client->want > 0 && client->have >= client->want && client->busy)
        answered(client);
}

static void set_timer(int timer, double at_us)
{
    struct itimerspec when = {.it_value = {(time_t)(at_us / 1e6), (long)(fmod(at_us, 1e6) * 1e3)}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Sends or queues the requests that are due. If the queue is full, drops and counts a request. Returns the time of the
 * next request. */
static double arrive(double next_us)
{
    double now = now_us();
    for (; next_us <= now && next_us < bench.until_us; next_us -= log(1 - random_unit()) * 1e6 / bench.rate) {
        if (bench.free_count > 0)
            start_request(bench.free[--bench.free_count], next_us);
        else if (bench.arrival_count < ARRIVALS_MAX)
            bench.arrivals[(bench.first_arrival + bench.arrival_count++) % ARRIVALS_MAX] = next_us;
        else
            bench.given_up++;
    }
    return next_us;
}

static void generate_load(double seconds)
{
    struct epoll_event events[EVENTS];
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    double next = now_us();
    bench.until_us = next + seconds * 1e6;
    epoll_ctl(bench.epoll, EPOLL_CTL_ADD, timer, &(struct epoll_event){.events = EPOLLIN});
    for (size_t i = 0; bench.rate == 0 && i < bench.client_count; i++)
        start_request(&bench.clients[i], now_us());
    if (bench.rate == 0)
        bench.free_count = 0;
    /* Wait up to one more second for the last answers. */
    while (now_us() < bench.until_us + (bench.free_count < bench.client_count ? 1e6 : 0)) {
        if (bench.rate > 0 && next < bench.until_us)
            next = arrive(next);
        set_timer(timer, bench.rate > 0 && next < bench.until_us ? next : bench.until_us);
        int count = epoll_wait(bench.epoll, events, EVENTS, 100);
        for (int i = 0; i < count; i++)
            if (events[i].data.ptr)
                receive_response(events[i].data.ptr);
    }
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double quantile(double part)
{
    return bench.time_count ? (double)bench.times[(size_t)(part * (double)(bench.time_count - 1))] : 0;
}

static void print_load_report(double seconds)
{
    qsort(bench.times, bench.time_count, sizeof *bench.times, by_size);
    printf("{\"answers\":%zu,\"per_second\":%.1f,\"p50_us\":%.1f,\"p90_us\":%.1f,\"p99_us\":%.1f,\"p999_us\":%.1f,"
           "\"max_us\":%.1f,\"ok\":%zu,\"4xx\":%zu,\"5xx\":%zu,\"errors\":%zu,\"given_up\":%zu}\n",
           bench.time_count, (double)bench.time_count / seconds, quantile(.5), quantile(.9), quantile(.99),
           quantile(.999), quantile(1), bench.by_status[2], bench.by_status[4], bench.by_status[5], bench.errors,
           bench.given_up);
}

static void open_clients(const char *address, size_t count)
{
    bench.client_count = bench.free_count = count;
    bench.clients = calloc(count, sizeof *bench.clients);
    bench.free = calloc(count, sizeof(struct load_client *));
    bench.epoll = epoll_create1(0);
    if (!bench.clients || !bench.free)
        exit_with_errno("memory");
    for (size_t i = 0; i < count; i++) {
        struct load_client *client = bench.free[i] = &bench.clients[i];
        client->descriptor = connect_to(address);
        epoll_ctl(bench.epoll, EPOLL_CTL_ADD, client->descriptor,
                  &(struct epoll_event){.events = EPOLLIN, .data.ptr = client});
    }
}

static void hold_connections(const char *address, size_t count)
{
    char byte;
    for (size_t i = 0; i < count; i++) {
        int descriptor = connect_to(address);
        const struct load_request *request = &bench.requests[0];
        if (request->len > 0 &&
            (send(descriptor, request->bytes, request->len, 0) < 0 || recv(descriptor, &byte, 1, MSG_PEEK) != 1))
            exit_with_errno("hold");
    }
    printf("{\"held\":%zu}\n", count);
    fflush(stdout);
    while (getchar() != EOF)
        ;
}

int main(int argc, char **argv)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (argc == 5 && strcmp(argv[1], "hold") == 0) {
        read_request(argv[4]);
        hold_connections(argv[2], strtoul(argv[3], NULL, 10));
        return 0;
    }
    if (argc < 6 || argc - 5 > REQUESTS_MAX) {
        fprintf(stderr, "usage: bench_http ADDRESS CONNECTIONS SECONDS RATE FILE...\n");
        return 2;
    }
    for (int i = 5; i < argc; i++)
        read_request(argv[i]);
    open_clients(argv[1], strtoul(argv[2], NULL, 10));
    bench.rate = atof(argv[4]);
    generate_load(atof(argv[3]));
    print_load_report(atof(argv[3]));
    return 0;
}
