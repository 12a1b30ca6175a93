/* A locale with decimal commas and, as in Turkish, an I that is not the capital of i, made here: the tests do not
 * depend on what the machine has. */
#ifndef PESS_TESTS_GERMAN_H
#define PESS_TESTS_GERMAN_H

#include "scratch_tree.h"

#include <locale.h>

/* As everywhere, but for numbers and letters: made in a moment, which all of de_DE is not. */
static inline void write_locale_source(const char *path) {
    static const char *const plain[] = {"COLLATE", "MONETARY", "TIME",      "MESSAGES",    "PAPER",
                                        "NAME",    "ADDRESS",  "TELEPHONE", "MEASUREMENT", "IDENTIFICATION"};
    FILE *source = fopen(path, "w");
    assert_non_null(source);
    (void)fputs("LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n", source);
    (void)fputs("LC_CTYPE\nupper <A>", source);
    for (char c = 'B'; c <= 'Z'; c++) (void)fprintf(source, ";<%c>", c);
    (void)fputs("\nlower <a>", source);
    for (char c = 'b'; c <= 'z'; c++) (void)fprintf(source, ";<%c>", c);
    (void)fputs("\ntolower (<A>,<a>)", source);
    for (char c = 'B'; c <= 'Z'; c++) (void)fprintf(source, ";(<%c>,<%c>)", c, c == 'I' ? c : c - 'A' + 'a');
    (void)fputs("\nEND LC_CTYPE\n", source);
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        (void)fprintf(source, "LC_%s\ncopy \"POSIX\"\nEND LC_%s\n", plain[i], plain[i]);
    assert_int_equal(fclose(source), 0);
}

/* Makes it in `folder`, which is a new directory, and sets it. */
static inline void speak_german(const char *folder) {
    char source[300], command[1000];
    (void)snprintf(source, sizeof source, "%s/source", folder);
    write_locale_source(source);
    (void)snprintf(command, sizeof command, "localedef -c -i %s -f ANSI_X3.4-1968 %s/de_TEST >/dev/null 2>&1", source,
                   folder);
    (void)!system(command); /* its warnings make it exit 1 */
    assert_int_equal(setenv("LOCPATH", folder, 1), 0);
    if (setlocale(LC_ALL, "de_TEST") == NULL) fail_msg("localedef (Debian package locales) made no locale");
    assert_string_equal(localeconv()->decimal_point, ",");
}

#endif
