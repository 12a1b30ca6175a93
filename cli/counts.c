#include "counts.h"

#include "command.h"

#include <string.h>

bool is_counts_file(const char *path) {
    static const char extension[] = ".pesscounts";
    const size_t length = strlen(path);
    return length >= sizeof extension - 1 && strcmp(path + length - (sizeof extension - 1), extension) == 0;
}

static const char what_they_are[] =
    "Counted logs\n"
    "\n"
    "A log may be counted where it lies: one row for each state, action, next state (and end) that occurs, with the\n"
    "columns\n"
    "\n"
    "  state,action,next_state,count,reward_sum[,reward_square_sum][,reward_min,reward_max][,terminal][,truncated]\n"
    "\n"
    "solve, evaluate and gaps read it in place of the log. Rows with the same key are added up, so the counts of\n"
    "several tables may stand one below the other. Without reward_min and reward_max, --reward-range is needed; "
    "without\n"
    "reward_square_sum, there is no variance of rewards (uncertainty bernstein, algorithm duipi). Episodes are not in "
    "it:\n"
    "--start takes a start distribution, and certify and theorems need the rows; inspect says what it can.\n"
    "\n"
    "'pess convert LOG -o FILE.pesscounts' counts a log here, with exact sums and the starts of its episodes; 'pess\n"
    "merge A B --out FILE.pesscounts' puts logs and counts together, with the same bytes as counting all rows at "
    "once.\n"
    "An episode that is in several shards needs the column step; without a column episode, cut where an episode "
    "ends.\n";

static const char select_text[] =
    "SELECT state, action, next_state, terminal,\n"
    "       COUNT(*) AS count, SUM(reward) AS reward_sum, SUM(reward * reward) AS reward_square_sum,\n"
    "       MIN(reward) AS reward_min, MAX(reward) AS reward_max\n"
    "FROM log GROUP BY state, action, next_state, terminal";

int help_counts(void) {
    (void)fputs(what_they_are, stdout);
    (void)printf("\nPostgreSQL (psql)\n\\copy (\n%s\n) TO 'counts.csv' WITH (FORMAT csv, HEADER)\n", select_text);
    (void)printf("\nDuckDB\nCOPY (\n%s\n) TO 'counts.csv' (HEADER)\n", select_text);
    (void)printf("\nSQLite (sqlite3 -header -csv log.db > counts.csv)\n%s;\n", select_text);
    (void)printf(
        "\nMySQL, BigQuery, Snowflake, Spark SQL: the same SELECT, exported as CSV with a header; in MySQL the\n"
        "name count is quoted: COUNT(*) AS `count`.\n");
    return EXIT_FINE;
}
