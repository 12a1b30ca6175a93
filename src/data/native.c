#include "data/format.h"
static bool matches(const uint8_t *head, size_t length) {
    (void)head;
    (void)length;
    return false;
}
static pess_status open_it(pess__stream *s, pess_error *e) {
    (void)s;
    return pess__fail(e, PESS_INPUT, "not yet");
}
static pess_status next_it(pess__stream *s, pess__batch *b, pess_error *e) {
    (void)s;
    (void)b;
    return pess__fail(e, PESS_INPUT, "not yet");
}
static void close_it(pess__stream *s) { (void)s; }
static pess_status write_it(const pess_dataset *d, const char *p, pess_error *e) {
    (void)d;
    (void)p;
    return pess__fail(e, PESS_INPUT, "not yet");
}
const pess__format pess__format_native = {matches, open_it, next_it, close_it, write_it};
