/* bench_http_read.c: the request reader for bench/http_differential.py. Reads blocks from standard input. A block is a
 * 32-bit little-endian length, and that many bytes of one client. Prints for each block:
 *
 *   R END METHOD TARGET FIELDS BODY     a request that ends at offset END of the block. FIELDS (NAME:VALUE, each with a
 *                                       line feed) and BODY are hexadecimal, or "-" if empty
 *   X STATUS                            a rejection with this HTTP status; the rest of the block is not read
 *   .                                   the end of the block
 *
 *   bench_http_read --speed FILE        reads the file repeatedly, and prints the processor time */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "http/reader.h"

enum { BODY_MAX = 1 << 20, BLOCK_MAX = 1 << 20 };

static void write_hex(struct str bytes)
{
    if (bytes.len == 0)
        putchar('-');
    for (size_t i = 0; i < bytes.len; i++)
        printf("%02x", (unsigned char)bytes.ptr[i]);
}

static void write_request(const struct http_request *request, size_t end)
{
    struct buffer fields = {0};
    for (size_t i = 0; i < request->field_count; i++) {
        wt__buffer_str(&fields, request->fields[i].name);
        wt__buffer_char(&fields, ':');
        wt__buffer_str(&fields, request->fields[i].value);
        wt__buffer_char(&fields, '\n');
    }
    printf("R %zu %.*s %.*s%s%.*s ", end, (int)request->method.len, request->method.ptr, (int)request->path.len,
           request->path.ptr, request->query.len > 0 ? "?" : "", (int)request->query.len, request->query.ptr);
    write_hex(wt__buffer_view(&fields));
    putchar(' ');
    write_hex(request->body);
    putchar('\n');
    wt__buffer_dispose(&fields);
}

/* Returns the number of requests; prints them if `say`. */
static size_t read_block(struct str block, bool say)
{
    struct http_reader reader = {0};
    size_t len = block.len, count = 0;
    enum http_part part = HTTP_PART_HEAD;
    while (block.len > 0 && part != HTTP_PART_REFUSED) {
        part = wt__http_reader_feed(&reader, &block);
        if (part == HTTP_PART_ACCEPT)
            part = wt__http_reader_accept(&reader, BODY_MAX);
        if (part == HTTP_PART_DONE) {
            struct http_message *message = wt__http_reader_take(&reader);
            if (say)
                write_request(&message->request, len - block.len);
            wt__http_message_free(message);
            count++;
        }
    }
    if (say && part == HTTP_PART_REFUSED)
        printf("X %d\n", wt__http_refusal_status(reader.refusal));
    wt__http_reader_dispose(&reader);
    return count;
}

static int measure_reader(const char *path)
{
    static char bytes[BLOCK_MAX];
    FILE *file = fopen(path, "rb");
    if (!file)
        return 1;
    struct str block = {bytes, fread(bytes, 1, sizeof bytes, file)};
    fclose(file);
    size_t requests = 0, rounds = 0;
    clock_t began = clock(), now = began;
    for (; now < began + CLOCKS_PER_SEC; now = clock(), rounds += 1000)
        for (int i = 0; i < 1000; i++)
            requests += read_block(block, false);
    double seconds = (double)(now - began) / CLOCKS_PER_SEC;
    printf("%.0f ns a request, %.0f MB/s\n", seconds * 1e9 / (double)requests,
           (double)rounds * (double)block.len / seconds / 1e6);
    return 0;
}

int main(int argc, char **argv)
{
    static char bytes[BLOCK_MAX];
    uint8_t size[4];
    if (argc > 2 && strcmp(argv[1], "--speed") == 0)
        return measure_reader(argv[2]);
    while (fread(size, 1, sizeof size, stdin) == sizeof size) {
        size_t len = size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
        if (len > sizeof bytes || fread(bytes, 1, len, stdin) != len)
            return 1;
        read_block((struct str){bytes, len}, true);
        puts(".");
        fflush(stdout); /* the other process waits for the answer */
    }
    return 0;
}
