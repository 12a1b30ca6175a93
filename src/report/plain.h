/* Numbers and assumptions in the words of people who decide, not of the field. */
#ifndef PESS_REPORT_PLAIN_H
#define PESS_REPORT_PLAIN_H

#include "core/status.h"

enum { PESS__PLAIN = 48, PESS__PLAIN_SENTENCE = 600 };

/* Which way a number is rounded: a guarantee must not grow by it. */
typedef enum pess__rounding { PESS__ROUND_NEAR, PESS__ROUND_DOWN, PESS__ROUND_UP } pess__rounding;

/* With so many decimals, zeros at the end left out, no exponent, thousands in groups. */
const char *pess__plain(double x, int decimals, pess__rounding rounding, char text[PESS__PLAIN]);
/* Decimals that show a thousandth of the range, and two digits of `difference` if two more do; NAN: none. */
int pess__plain_decimals(double range, double difference);
/* The assumption in plain words. */
const char *pess__plain_assumption(const pess_assumption *assumption, char text[PESS__PLAIN_SENTENCE]);

#endif
