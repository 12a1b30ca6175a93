#include "counts.h"

#include "command.h"

#include <string.h>

bool is_counts_file(const char *path) {
    static const char extension[] = ".pesscounts";
    const size_t length = strlen(path);
    return length >= sizeof extension - 1 && strcmp(path + length - (sizeof extension - 1), extension) == 0;
}

static const char what_they_are[] =
    "Counted logs\n\nA log may be counted where it is stored: one row for each state, action, next state (and end) "
    "that occurs, with the\ncolumns\n\n  "
    "state,action,next_state,count,reward_sum[,reward_square_sum][,reward_min,reward_max][,terminal][,truncated]"
    "\n\nsolve, evaluate, gaps, theorems and certify read it in place of the log. Rows with the same key are added up, "
    "so the counts "
    "of\nseveral tables may simply follow one another. Without reward_min and reward_max, --reward-range is needed; "
    "without\nreward_square_sum, there is no variance of rewards (uncertainty bernstein, algorithm duipi). Episodes "
    "are not in it:\n--start takes a start distribution, certify does what needs no rows (--method robust), choose "
    "needs "
    "them; inspect\nsays what it can.\n\n'pess convert LOG -o FILE.pesscounts' counts a log here, with exact sums and "
    "the starts of its episodes; "
    "'pess\nmerge A B --out FILE.pesscounts' puts logs and counts together, with the same bytes as counting all rows "
    "at once.\nAn episode that is in several shards needs the column step; without a column episode, cut where an "
    "episode ends.\n";

/* What stands around the SELECT; quote: around the name count. */
static const struct {
    const char *name, *before, *after, *quote;
} dialects[] = {
    {"PostgreSQL", "psql clinic -c \"COPY (\n", "\n) TO STDOUT WITH (FORMAT csv, HEADER)\" > counts.csv", ""},
    {"DuckDB", "COPY (\n", "\n) TO 'counts.csv' (HEADER)", ""},
    {"SQLite", "sqlite3 -header -csv log.db \"\n", "\" > counts.csv", ""},
    {"MySQL, MariaDB", "mysql --batch clinic -e '\n", "' > counts.tsv", "`"},
    {"ClickHouse", "clickhouse-client -q \"\n", "\nFORMAT CSVWithNames\" > counts.csv", ""},
    {"BigQuery", "bq query --use_legacy_sql=false --format=csv --max_rows=100000000 '\n", "' > counts.csv", ""},
    {"Snowflake", "snowsql -o output_format=csv -o header=true -o friendly=false -o timing=false -q '\n",
     "' > counts.csv", ""},
    {"Spark", "spark.sql(\"\"\"\n", "\"\"\").write.option(\"header\", True).csv(\"counts\")", ""},
};

static void print_dialect(size_t i) {
    (void)printf("\n%s\n%sSELECT state, action, next_state, terminal,\n"
                 "       COUNT(*) AS %scount%s, SUM(reward) AS reward_sum, SUM(reward * reward) AS reward_square_sum,\n"
                 "       MIN(reward) AS reward_min, MAX(reward) AS reward_max\n"
                 "FROM log GROUP BY state, action, next_state, terminal%s\n",
                 dialects[i].name, dialects[i].before, dialects[i].quote, dialects[i].quote, dialects[i].after);
}

int help_counts(void) {
    (void)fputs(what_they_are, stdout);
    for (size_t i = 0; i < COUNT_OF(dialects); i++) print_dialect(i);
    (void)puts(
        "\nOther engines: the same SELECT, exported with a header. Where a sum of integers could overflow, cast the\n"
        "reward to a floating-point number.");
    return EXIT_FINE;
}
