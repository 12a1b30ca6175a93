/* Settings from their tables: defaults, values as text, checks. */
#include "core/settings.h"

#include "core/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

const pess_setting *pess_setting_find(const pess_setting_table *table, const char *name) {
    for (size_t i = 0; name != NULL && i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0) return &table->rows[i];
    return NULL;
}

bool pess_setting_listed(const char *list, const char *name) {
    const size_t length = name != NULL ? strlen(name) : 0;
    while (length > 0 && list != NULL && *list != '\0') {
        const size_t word = strcspn(list, " ");
        if (word == length && memcmp(list, name, length) == 0) return true;
        list += word + (list[word] == ' ');
    }
    return false;
}

/* ---- words */

void pess_setting_range(const pess_setting *setting, char *text, size_t size) {
    const bool above = setting->open & PESS_SETTING_ABOVE_LEAST, below = setting->open & PESS_SETTING_BELOW_MOST;
    if (!isfinite(setting->least) && !isfinite(setting->most))
        (void)snprintf(text, size, "%s", "");
    else if (!isfinite(setting->most))
        (void)snprintf(text, size, above ? "above %.15g" : "%.15g or more", setting->least);
    else if (above || below)
        (void)snprintf(text, size, "%s %.15g and %s %.15g", above ? "above" : "at least", setting->least,
                       below ? "below" : "at most", setting->most);
    else
        (void)snprintf(text, size, "from %.15g to %.15g", setting->least, setting->most);
}

/* What stands between a noun and the words of its range. */
static const char *link_to(const char *range) {
    return *range == '\0'                         ? ""
           : pess__begins_with(range, "at least") ? " of "
           : pess__ends_with(range, "more")       ? ", "
                                                  : " ";
}

void pess_setting_expected(const pess_setting *setting, char *text, size_t size) {
    const bool whole = setting->kind == PESS_SETTING_COUNT || setting->kind == PESS_SETTING_INT;
    const bool below = setting->open & PESS_SETTING_BELOW_MOST;
    const char *noun = whole ? "a whole number" : "a number";
    char range[120];
    switch (setting->kind) {
        case PESS_SETTING_SWITCH: (void)snprintf(text, size, "on or off"); return;
        case PESS_SETTING_SEED: (void)snprintf(text, size, "a whole number from 0 to 2^64-%d", below ? 2 : 1); return;
        case PESS_SETTING_RANGE: (void)snprintf(text, size, "two numbers, LO,HI, with LO not above HI"); return;
        case PESS_SETTING_PAIR: noun = "two numbers, A,B, each"; break;
        case PESS_SETTING_TEXT: (void)snprintf(text, size, "a text"); return;
        case PESS_SETTING_CHOICE: (void)snprintf(text, size, "one of %s", setting->choices); return;
        case PESS_SETTING_INT:
        case PESS_SETTING_COUNT:
        case PESS_SETTING_NUMBER: break;
    }
    pess_setting_range(setting, range, sizeof range);
    (void)snprintf(text, size, "%s%s%s", noun, link_to(range), range);
}

static pess_status refuse(const pess_setting *setting, const char *found, pess_error *error) {
    char expected[400];
    pess_setting_expected(setting, expected, sizeof expected);
    return pess__fail(error, PESS_ARGUMENT, "%s: found '%.100s', expected %s", setting->name, found, expected);
}

/* ---- choices: words between bars */

static int choice_of(const char *choices, const char *text) {
    const size_t length = strlen(text);
    for (int i = 0; *choices != '\0'; i++) {
        const size_t word = strcspn(choices, "|");
        if (word == length && memcmp(choices, text, length) == 0) return i;
        choices += word + (choices[word] == '|');
    }
    return -1;
}

static void choice_name(const char *choices, int index, char *text, size_t size) {
    for (int i = 0; i < index && *choices != '\0'; i++) {
        choices += strcspn(choices, "|");
        choices += *choices == '|';
    }
    (void)snprintf(text, size, "%.*s", (int)strcspn(choices, "|"), choices);
}

static int choice_count(const char *choices) {
    int count = 1;
    for (; *choices != '\0'; choices++) count += *choices == '|';
    return count;
}

/* ---- ranges */

static bool inside(const pess_setting *setting, double value) {
    if (setting->open & PESS_SETTING_ABOVE_LEAST ? !(value > setting->least) : !(value >= setting->least)) return false;
    return setting->open & PESS_SETTING_BELOW_MOST ? value < setting->most : value <= setting->most;
}

/* ---- from text */

static bool set_number(const pess_setting *setting, void *field, const char *text, size_t length) {
    double number;
    if (!pess__parse_double(text, text + length, &number) || !isfinite(number) || !inside(setting, number))
        return false;
    const bool whole = number == floor(number) && fabs(number) <= 9007199254740992.0;
    switch (setting->kind) {
        case PESS_SETTING_INT: *(int *)field = whole ? (int)number : 0; return whole && fabs(number) <= 2147483647.0;
        case PESS_SETTING_COUNT: *(int64_t *)field = whole ? (int64_t)number : 0; return whole;
        default: *(double *)field = number; return true;
    }
}

static bool set_seed(uint64_t *field, const char *text) {
    uint64_t seed = 0;
    if (*text == '\0') return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9') return false;
        const uint64_t digit = (uint64_t)(*text - '0');
        if (seed > (UINT64_MAX - digit) / 10) return false;
        seed = seed * 10 + digit;
    }
    *field = seed;
    return true;
}

/* Is it a seed that need not be set, and is not? */
static bool no_seed(const pess_setting *setting, const uint64_t *field) {
    return setting->open & PESS_SETTING_BELOW_MOST && *field == PESS_NO_SEED;
}

static bool pair_fits(const pess_setting *setting, double lo, double hi) {
    if (!isfinite(lo) || !isfinite(hi) || (setting->kind == PESS_SETTING_RANGE && lo > hi)) return false;
    return inside(setting, lo) && inside(setting, hi);
}

static bool set_pair(const pess_setting *setting, double field[2], const char *text) {
    const char *comma = strchr(text, ',');
    double lo, hi;
    if (comma == NULL || !pess__parse_double(text, comma, &lo) ||
        !pess__parse_double(comma + 1, comma + strlen(comma), &hi) || !pair_fits(setting, lo, hi))
        return false;
    field[0] = lo;
    field[1] = hi;
    return true;
}

static bool set_switch(bool *field, const char *text) {
    *field = strcmp(text, "on") == 0;
    return *field || strcmp(text, "off") == 0;
}

static pess_status set_row(const pess_setting *setting, void *options, const char *text, pess_error *error) {
    void *field = (char *)options + setting->offset;
    bool fits = false;
    switch (setting->kind) {
        case PESS_SETTING_SWITCH: fits = set_switch(field, text); break;
        case PESS_SETTING_INT:
        case PESS_SETTING_COUNT:
        case PESS_SETTING_NUMBER: fits = set_number(setting, field, text, strlen(text)); break;
        case PESS_SETTING_SEED: fits = set_seed(field, text) && !no_seed(setting, field); break;
        case PESS_SETTING_RANGE:
        case PESS_SETTING_PAIR: fits = set_pair(setting, field, text); break;
        case PESS_SETTING_TEXT:
            *(const char **)field = text;
            fits = true;
            break;
        case PESS_SETTING_CHOICE: {
            const int choice = choice_of(setting->choices, text);
            if (choice >= 0) *(int *)field = choice;
            fits = choice >= 0;
            break;
        }
    }
    return fits ? PESS_OK : refuse(setting, text, error);
}

pess_status pess_setting_set(const pess_setting_table *table, void *options, const char *name, const char *text,
                             pess_error *error) {
    const pess_setting *setting = pess_setting_find(table, name);
    if (setting == NULL) return pess__fail(error, PESS_ARGUMENT, "%s: there is no such setting", name);
    return set_row(setting, options, text, error);
}

static void unset(const pess_setting *setting, void *options) {
    void *field = (char *)options + setting->offset;
    switch (setting->kind) {
        case PESS_SETTING_NUMBER: *(double *)field = NAN; break;
        case PESS_SETTING_RANGE:
        case PESS_SETTING_PAIR: ((double *)field)[0] = ((double *)field)[1] = NAN; break;
        case PESS_SETTING_CHOICE: *(int *)field = -1; break;
        case PESS_SETTING_SEED: *(uint64_t *)field = PESS_NO_SEED; break;
        default: break; /* zero */
    }
}

void pess_setting_defaults(const pess_setting_table *table, void *options) {
    memset(options, 0, table->size);
    *(size_t *)options = table->size;
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].standard == NULL)
            unset(&table->rows[i], options);
        else {
            const pess_status status = set_row(&table->rows[i], options, table->rows[i].standard, NULL);
            assert(status == PESS_OK); /* a default lies in its own range */
            (void)status;
        }
}

/* ---- to text */

static void get_row(const pess_setting *setting, const void *options, char *text, size_t size) {
    const void *field = (const char *)options + setting->offset;
    char lo[PESS__NUMBER_SIZE], hi[PESS__NUMBER_SIZE];
    text[0] = '\0';
    switch (setting->kind) {
        case PESS_SETTING_SWITCH: (void)snprintf(text, size, "%s", *(const bool *)field ? "on" : "off"); break;
        case PESS_SETTING_INT: (void)snprintf(text, size, "%d", *(const int *)field); break;
        case PESS_SETTING_COUNT: (void)snprintf(text, size, "%lld", (long long)*(const int64_t *)field); break;
        case PESS_SETTING_SEED:
            if (!no_seed(setting, field))
                (void)snprintf(text, size, "%llu", (unsigned long long)*(const uint64_t *)field);
            break;
        case PESS_SETTING_NUMBER:
            if (isnan(*(const double *)field)) break;
            (void)pess__format_double(*(const double *)field, lo);
            (void)snprintf(text, size, "%s", lo);
            break;
        case PESS_SETTING_RANGE:
        case PESS_SETTING_PAIR:
            if (isnan(*(const double *)field)) break;
            (void)pess__format_double(((const double *)field)[0], lo);
            (void)pess__format_double(((const double *)field)[1], hi);
            (void)snprintf(text, size, "%s,%s", lo, hi);
            break;
        case PESS_SETTING_TEXT:
            if (*(const char *const *)field != NULL) (void)snprintf(text, size, "%s", *(const char *const *)field);
            break;
        case PESS_SETTING_CHOICE:
            if (*(const int *)field >= 0) choice_name(setting->choices, *(const int *)field, text, size);
            break;
    }
}

void pess_setting_get(const pess_setting_table *table, const void *options, const char *name, char *text, size_t size) {
    const pess_setting *setting = pess_setting_find(table, name);
    if (size > 0) text[0] = '\0';
    if (setting != NULL && size > 0) get_row(setting, options, text, size);
}

bool pess_setting_is_default(const pess_setting_table *table, const void *options, const char *name) {
    const pess_setting *setting = pess_setting_find(table, name);
    if (setting == NULL) return true;
    char found[256], standard[256] = "";
    _Alignas(max_align_t) char value[2 * sizeof(double)] = {0};
    pess_setting alone = *setting;
    alone.offset = 0;
    if (setting->standard != NULL) {
        (void)set_row(&alone, value, setting->standard, NULL);
        get_row(&alone, value, standard, sizeof standard);
    }
    get_row(setting, options, found, sizeof found);
    if (setting->standard == NULL && setting->kind == PESS_SETTING_TEXT) /* an empty text is set */
        return *(const char *const *)((const char *)options + setting->offset) == NULL;
    if (setting->standard == NULL && (setting->kind == PESS_SETTING_INT || setting->kind == PESS_SETTING_COUNT))
        return strcmp(found, "0") == 0;
    return strcmp(found, standard) == 0;
}

/* ---- checks */

static bool valid(const pess_setting *setting, const void *options) {
    const void *field = (const char *)options + setting->offset;
    const bool may_be_unset = setting->standard == NULL;
    switch (setting->kind) {
        case PESS_SETTING_INT: {
            const int value = *(const int *)field;
            return inside(setting, (double)value) || (may_be_unset && value == 0);
        }
        case PESS_SETTING_COUNT: {
            const int64_t value = *(const int64_t *)field;
            return inside(setting, (double)value) || (may_be_unset && value == 0);
        }
        case PESS_SETTING_NUMBER: {
            const double value = *(const double *)field;
            return isnan(value) ? may_be_unset : isfinite(value) && inside(setting, value);
        }
        case PESS_SETTING_RANGE:
        case PESS_SETTING_PAIR: {
            const double *ends = field;
            return isnan(ends[0]) && isnan(ends[1]) ? may_be_unset : pair_fits(setting, ends[0], ends[1]);
        }
        case PESS_SETTING_CHOICE: {
            const int value = *(const int *)field;
            return (value >= 0 && value < choice_count(setting->choices)) || (may_be_unset && value == -1);
        }
        case PESS_SETTING_SWITCH:
        case PESS_SETTING_SEED:
        case PESS_SETTING_TEXT: break;
    }
    return true;
}

static void found_text(const pess_setting *setting, const void *options, char *text, size_t size) {
    const void *field = (const char *)options + setting->offset;
    get_row(setting, options, text, size);
    if (setting->kind == PESS_SETTING_CHOICE) (void)snprintf(text, size, "%d", *(const int *)field);
    if (text[0] == '\0') (void)snprintf(text, size, "nan");
}

static pess_status check_values(const pess_setting_table *table, const void *options, pess_error *error) {
    for (size_t i = 0; i < table->count; i++) {
        const pess_setting *setting = &table->rows[i];
        if (valid(setting, options)) continue;
        char found[2 * PESS__NUMBER_SIZE + 2];
        found_text(setting, options, found, sizeof found);
        return refuse(setting, found, error);
    }
    return PESS_OK;
}

pess_status pess__check_struct(const char *what, const void *options, size_t expected, pess_error *error) {
    const size_t found = options != NULL ? *(const size_t *)options : 0;
    if (found == expected) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT, "%s: found the size %zu, expected %zu, that of the struct", what, found,
                      expected);
}

static pess_status check_size(const pess_setting_table *table, size_t size, pess_error *error) {
    if (size > table->size)
        return pess__fail(error, PESS_ARGUMENT,
                          "%s options: found a struct of %zu bytes, this version of the library knows %zu: it was "
                          "built for a newer one",
                          table->name, size, table->size);
    if (size <= sizeof(size_t))
        return pess__fail(error, PESS_ARGUMENT,
                          "%s options: found size %zu, expected what pess_%s_options_defaults() sets", table->name,
                          size, table->name);
    return PESS_OK;
}

pess_status pess_setting_check(const pess_setting_table *table, const void *options, pess_error *error) {
    PESS_TRY(check_size(table, *(const size_t *)options, error));
    return check_values(table, options, error);
}

/* A text that is NULL is not set: the default holds. */
static void fill_texts(const pess_setting_table *table, void *options) {
    for (size_t i = 0; i < table->count; i++) {
        const pess_setting *setting = &table->rows[i];
        if (setting->kind != PESS_SETTING_TEXT || setting->standard == NULL) continue;
        const char **field = (const char **)((char *)options + setting->offset);
        if (*field == NULL) *field = setting->standard;
    }
}

pess_status pess__settle(const pess_setting_table *table, const void *options, void *settled, pess_error *error) {
    pess_setting_defaults(table, settled);
    if (options == NULL) return PESS_OK;
    const size_t size = *(const size_t *)options;
    PESS_TRY(check_size(table, size, error));
    memcpy(settled, options, size);
    *(size_t *)settled = table->size;
    fill_texts(table, settled);
    return check_values(table, settled, error);
}

/* ---- several at once */

void pess__setting_values(const pess_setting_table *table, const void *options, const char *names, char *text,
                          size_t size) {
    text[0] = '\0';
    while (*names != '\0') {
        char name[PESS__WORD_SIZE], value[PESS__WORD_SIZE];
        const size_t length = strcspn(names, " "), used = strlen(text);
        (void)snprintf(name, sizeof name, "%.*s", (int)length, names);
        pess_setting_get(table, options, name, value, sizeof value);
        (void)snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "", value);
        names += length + (names[length] == ' ');
    }
}

bool pess__setting_word(const char **words, char name[PESS__WORD_SIZE], char value[PESS__WORD_SIZE]) {
    static const char blanks[] = " ,\n";
    const char *word = *words + strspn(*words, blanks);
    const size_t length = strcspn(word, blanks), key = strcspn(word, "= ,\n");
    (void)snprintf(name, PESS__WORD_SIZE, "%.*s", (int)key, word);
    (void)snprintf(value, PESS__WORD_SIZE, "%.*s", key < length ? (int)(length - key - 1) : 0,
                   key < length ? word + key + 1 : "");
    *words = word + length;
    return length > 0;
}

void pess__setting_key(const char *name, char *key, size_t size) {
    (void)snprintf(key, size, "%s", name);
    for (; *key != '\0'; key++) *key = *key == '-' ? '_' : *key;
}
