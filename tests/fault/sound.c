/* sound.c: checks a store for damage. Prints its number of tools, or the damage. */
#include <sqlite3.h>
#include <stdio.h>

static int first_text(void *context, int columns, char **values, char **names)
{
    (void)columns;
    (void)names;
    snprintf(context, 256, "%s", values[0] ? values[0] : "NULL");
    return 1;
}

/* Returns the first value of the query's result, "" if the result is empty, or the error message. */
static const char *query_first_value(sqlite3 *db, const char *sql)
{
    static char answer[256];
    answer[0] = '\0';
    int rc = sqlite3_exec(db, sql, first_text, answer, NULL);
    if (rc != SQLITE_OK && rc != SQLITE_ABORT)
        snprintf(answer, sizeof answer, "%s", sqlite3_errmsg(db));
    return answer;
}

int main(int argc, char **argv)
{
    sqlite3 *db;
    if (argc != 2 || sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
        puts("cannot be opened");
        return 1;
    }
    const char *integrity = query_first_value(db, "PRAGMA integrity_check");
    if (integrity[0] != 'o' || integrity[1] != 'k' || integrity[2]) {
        puts(integrity);
        return 1;
    }
    if (*query_first_value(db, "PRAGMA foreign_key_check")) {
        puts("a row refers to a missing row");
        return 1;
    }
    const char *tables = query_first_value(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'tool'");
    puts(*tables == '1' ? query_first_value(db, "SELECT count(*) FROM tool") : "0");
    sqlite3_close(db);
    return 0;
}
