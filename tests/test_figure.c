/* Figures and reports: axes, styles, the three formats, and results read back. */
#include "scratch.h"

#include "report/axis.h"
#include "report/cairo.h"
#include "report/figure.h"
#include "report/report.h"
#include "report/style.h"

#include <math.h>

/* ---- axes */

static void axes_cover_their_range_with_ascending_ticks(void **state) {
    (void)state;
    const pess__axis linear = pess__axis_make(24.1, 59.8, false, true, 6, 400, 0);
    assert_true(linear.lo <= 24.1 && linear.hi >= 59.8 && linear.tick_count >= 4 && linear.tick_count <= 12);
    assert_true(fabs(pess__axis_place(&linear, linear.lo) - 400) < 1e-9);
    assert_true(fabs(pess__axis_place(&linear, linear.hi)) < 1e-9);
    for (int i = 1; i < linear.tick_count; i++) assert_true(linear.tick[i] > linear.tick[i - 1]);
    const pess__axis log_axis = pess__axis_make(2, 200000, true, false, 5, 0, 100);
    assert_int_equal(log_axis.tick_count, 5); /* 10 … 100000 */
    assert_true(fabs(pess__axis_place(&log_axis, sqrt(2.0 * 200000)) - 50) < 1e-9);
    char text[32];
    const pess__axis narrow = pess__axis_make(10000, 500000, true, false, 5, 0, 100);
    const double expected[] = {10000, 20000, 50000, 100000, 200000, 500000};
    assert_int_equal(narrow.tick_count, 6);
    for (int i = 0; i < 6; i++) assert_true(fabs(narrow.tick[i] / expected[i] - 1) < 1e-9);
    assert_int_equal(pess__axis_make(3, 4, true, false, 5, 0, 100).tick_count, 6); /* 3, 3.2, … */
    assert_int_equal(pess__axis_make(4, 7, true, false, 5, 0, 100).tick_count, 1);
    pess__axis_label(&log_axis, 10000, text, sizeof text);
    assert_string_equal(text, "10k");
    pess__axis_label(&linear, 1500000, text, sizeof text);
    assert_string_equal(text, "1.5M");
    pess__axis_label(&linear, 9000, text, sizeof text);
    assert_string_equal(text, "9000");
    const pess__axis single = pess__axis_make(3, 3, false, true, 5, 0, 1);
    assert_true(single.lo < 3 && single.hi > 3);
}

/* ---- styles: contrast after WCAG 2 on both backgrounds, and no two of the paper's curves alike */

static double luminance(uint32_t colour) {
    static const double weight[3] = {0.2126, 0.7152, 0.0722};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double c = (colour >> (16 - 8 * i) & 255) / 255.0;
        sum += weight[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(uint32_t a, uint32_t b) {
    const double x = luminance(a), y = luminance(b);
    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

/* How a colour looks to someone without one kind of cone (Viénot, Brettel & Mollon 1999), in linear light. */
static void reduced(uint32_t colour, bool protan, double *out) {
    double linear[3];
    for (int i = 0; i < 3; i++) {
        const double c = (colour >> (16 - 8 * i) & 255) / 255.0;
        linear[i] = pow(c, 2.2);
    }
    const double r = linear[0], g = linear[1], b = linear[2];
    out[0] = protan ? 0.11238 * r + 0.88762 * g : 0.29275 * r + 0.70725 * g;
    out[1] = out[0];
    out[2] = protan ? 0.00401 * r - 0.00401 * g + b : -0.02234 * r + 0.02234 * g + b;
}

static void curves_can_be_told_apart(void **state) {
    (void)state;
    static const char *const names[] = {"random", "optimal", "imitation", "naive",          "ua",   "proximal",
                                        "robust", "spibb",   "spibb-leq", "ua:hoeffding-s", "rmin", "ua:bernstein"};
    enum { COUNT = sizeof names / sizeof names[0], PAPER = 6 };
    for (int i = 0; i < COUNT; i++) {
        const pess__style style = pess__style_of(names[i]);
        assert_true(contrast(style.colour, 0xFFFFFF) >= 2.95);
        assert_true(contrast(style.colour, 0x14161A) >= 2.95);
        assert_memory_equal(&style.colour, &(uint32_t){pess__style_of(names[i]).colour}, 4);
        for (int j = 0; j < i && i < PAPER; j++) {
            const pess__style other = pess__style_of(names[j]);
            bool alike = other.dash == style.dash && other.marker == style.marker;
            for (int kind = 0; kind < 2 && alike; kind++) {
                double a[3], b[3], distance = 0;
                reduced(style.colour, kind == 0, a);
                reduced(other.colour, kind == 0, b);
                for (int k = 0; k < 3; k++) distance += (a[k] - b[k]) * (a[k] - b[k]);
                alike = sqrt(distance) < 0.05;
            }
            assert_false(alike); /* told apart by marker or dash, or by colour whatever the eye */
        }
    }
}

/* Learners with a row of their own have a look that no other learner with one has. */
static void learners_can_be_told_apart(void **state) {
    (void)state;
    const pess_learner_info *one, *other;
    for (size_t i = 0; (one = pess_learner_list(i)) != NULL; i++) {
        const pess__style a = pess__style_of(one->name);
        if (strcmp(a.label, one->name) == 0) {
            print_message("%s: has no look of its own\n", one->name);
            continue;
        }
        for (size_t j = 0; j < i && (other = pess_learner_list(j)) != NULL; j++) {
            const pess__style b = pess__style_of(other->name);
            if (strcmp(b.label, other->name) == 0) continue;
            if (a.colour == b.colour && a.dash == b.dash && a.marker == b.marker)
                fail_msg("%s and %s look the same", one->name, other->name);
        }
    }
}

/* ---- files */

static void fill(pess__figure *figure, int panels, int points) {
    (void)snprintf(figure->title, sizeof figure->title, "A <title> & more");
    static const char *const names[] = {"random", "optimal", "ua", "naive"};
    for (int p = 0; p < panels; p++) {
        pess__panel *panel = NULL;
        assert_int_equal(pess__figure_add_panel(figure, &panel, NULL), PESS_OK);
        (void)snprintf(panel->x_label, sizeof panel->x_label, "x");
        for (int c = 0; c < 4; c++)
            for (int i = points - 1; i >= 0; i--) /* out of order */
                assert_int_equal(pess__panel_add_point(panel, names[c], i, 10 * c + i, 0.5, NULL), PESS_OK);
    }
}

static void every_format_is_drawn(void **state) {
    (void)state;
    static const struct {
        const char *format, *begins;
    } formats[] = {{"svg", "<?xml"}, {"png", "\x89PNG"}, {"pdf", "%PDF"}};
    static const int shapes[][2] = {{1, 8}, {2, 8}, {9, 3}, {1, 1}};
    for (int shape = 0; shape < 4; shape++) {
        pess__figure figure = {0};
        fill(&figure, shapes[shape][0], shapes[shape][1]);
        const pess__curve *curve = &figure.panels[0].curves[2];
        for (int64_t i = 1; i < curve->count; i++) assert_true(curve->x[i] > curve->x[i - 1]);
        for (int f = 0; f < 3; f++) {
            const char *path = scratch_path(0, formats[f].format), *again = scratch_path(1, formats[f].format);
            assert_int_equal(pess__figure_save(&figure, path, formats[f].format, NULL), PESS_OK);
            assert_int_equal(pess__figure_save(&figure, again, formats[f].format, NULL), PESS_OK);
            char *first = scratch_read(path), *second = scratch_read(again);
            assert_memory_equal(first, formats[f].begins, 4);
            if (f == 0) {
                assert_non_null(strstr(first, "</svg>"));
                assert_string_equal(first, second);
            }
            if (f == 2) assert_null(strstr(first, "CreationDate"));
            free(first);
            free(second);
            (void)unlink(path);
            (void)unlink(again);
        }
        pess__figure_release(&figure);
    }
}

/* A long name beside its curve makes the figure wider: 30 letters need more than 5 units each. */
static void long_labels_make_the_figure_wider(void **state) {
    (void)state;
    double width[2], height[2];
    for (int i = 0; i < 2; i++) {
        pess__figure figure = {0};
        pess__panel *panel = NULL;
        assert_int_equal(pess__figure_add_panel(&figure, &panel, NULL), PESS_OK);
        for (int x = 0; x < 2; x++)
            assert_int_equal(
                pess__panel_add_point(panel, i == 0 ? "naive" : "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmm", x, 1, 0, NULL),
                PESS_OK);
        assert_int_equal(pess__cairo_load(NULL), PESS_OK);
        pess__figure_size(&figure, &width[i], &height[i]);
        pess__figure_release(&figure);
    }
    assert_true(width[1] > width[0] + 18 + 5 * 30 - 132);
    assert_true(height[0] == height[1]);
}

/* ---- results read back */

static void results_are_read_back(void **state) {
    (void)state;
    const char *path = scratch_write(0, "ci95,mean,trials,x,algorithm\n0.5,3,10,1,ua\nnan,4,10,1000,ua\n1,2,10,1,b\n");
    pess__figure figure = {0};
    pess_error error = {0};
    if (pess__report_read(path, &figure, &error) != PESS_OK) fail_msg("%s", error.message);
    assert_int_equal(figure.panel_count, 1);
    assert_int_equal(figure.panels[0].curve_count, 2);
    assert_true(figure.panels[0].log_x); /* positive, three powers of ten */
    const pess__curve *ua = &figure.panels[0].curves[0];
    assert_string_equal(ua->algorithm, "ua");
    assert_true(ua->count == 2 && ua->x[1] == 1000 && ua->mean[1] == 4 && isnan(ua->lo[1]) && isnan(ua->hi[1]) &&
                ua->lo[0] == 2.5 && ua->hi[0] == 3.5);
    pess__figure_release(&figure);
    (void)unlink(path);
}

static void learning_curves_are_read(void **state) {
    (void)state;
    const char *path = scratch_write(0, "loss,frame,game,return\n1,200,space_invaders,3\n1,100,breakout,-1\n"
                                        "1,400,space_invaders,5.5\n");
    pess__figure figure = {0};
    pess_error error = {0};
    if (pess__report_read(path, &figure, &error) != PESS_OK) fail_msg("%s", error.message);
    assert_int_equal(figure.panel_count, 2);
    assert_string_equal(figure.panels[0].title, "Space Invaders");
    assert_string_equal(figure.panels[1].title, "Breakout");
    assert_string_equal(figure.panels[0].x_label, "frames");
    assert_false(figure.panels[0].log_x);
    const pess__curve *curve = &figure.panels[0].curves[0];
    assert_true(curve->count == 2 && curve->x[1] == 400 && curve->mean[1] == 5.5 && isnan(curve->lo[0]));
    pess__figure_release(&figure);
    (void)unlink(path);
}

/* A directory of a run, and a log beside others: each names its game. */
static void training_logs_are_read(void **state) {
    (void)state;
    char directory[] = "/tmp/pess-run-XXXXXX", log[64], named[64];
    assert_non_null(mkdtemp(directory));
    (void)snprintf(log, sizeof log, "%s/log.csv", directory);
    (void)snprintf(named, sizeof named, "%s/freeway.csv", directory);
    const char *const files[] = {log, named};
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(files[i], "w");
        assert_non_null(file);
        (void)fputs("frame,return\n1000,2\n2000,4\n", file);
        (void)fclose(file);
    }
    pess__figure figure = {0};
    assert_int_equal(pess__report_read(directory, &figure, NULL), PESS_OK);
    assert_int_equal(pess__report_read(named, &figure, NULL), PESS_OK);
    assert_int_equal(figure.panel_count, 2);
    assert_memory_equal(figure.panels[0].title, "Pess-run-", 9);
    assert_string_equal(figure.panels[1].title, "Freeway");
    pess__figure_release(&figure);
    (void)unlink(log);
    (void)unlink(named);
    (void)rmdir(directory);
}

static void expect_bad(const char *text, const char *says) {
    const char *path = scratch_write(0, text), *out = scratch_path(1, ".svg");
    pess_error error = {0};
    assert_int_equal(pess_figure_write(&path, 1, NULL, out, &error), PESS_INPUT);
    if (strstr(error.message, says) == NULL) fail_msg("'%s' lacks '%s'", error.message, says);
    assert_int_not_equal(access(out, F_OK), 0);
    (void)unlink(path);
}

static void bad_results_are_refused(void **state) {
    (void)state;
    expect_bad("", "");
    expect_bad("algorithm,x,trials,mean,ci95\n", "no rows");
    expect_bad("algorithm,x,trials,mean\nua,1,1,1\n", "ci95");
    expect_bad("algorithm,x,trials,mean,ci95\nua,1,1,oops,1\n", "oops");
    expect_bad("algorithm,x,trials,mean,ci95\nua,1,1,inf,1\n", "inf");
    expect_bad("algorithm,x,trials,mean,ci95\nua,1,1,1,-2\n", "-2");
    expect_bad("algorithm,x,trials,mean,ci95\n,1,1,1,2\n", "name");
    expect_bad("algorithm,x,trials,mean,ci95\nua,1,1,1\n", ":2");
    expect_bad("frame,return\n", "no rows");
    expect_bad("frame,return\n-5,1\n", "number of frames");
    expect_bad("frame,return\n5,many\n", "many");
    expect_bad("game,frame,return\n,5,1\n", "name");
    const char *path = "/nowhere/results.csv";
    pess_error error = {0};
    assert_int_equal(pess_figure_write(&path, 1, NULL, scratch_path(1, ".svg"), &error), PESS_IO);
    assert_int_equal(pess_figure_write(&path, 1, NULL, "figure.doc", &error), PESS_ARGUMENT);
}

static void curves_are_selected_by_name(void **state) {
    (void)state;
    pess__figure figure = {0};
    pess__panel *panel = NULL;
    static const char *const names[2][3] = {{"a", "b", "c"}, {"a", "ab", "d"}};
    for (int p = 0; p < 2; p++) {
        assert_int_equal(pess__figure_add_panel(&figure, &panel, NULL), PESS_OK);
        for (int c = 0; c < 3; c++) assert_int_equal(pess__panel_add_point(panel, names[p][c], 1, c, 0, NULL), PESS_OK);
    }
    pess_error error = {0};
    assert_int_equal(pess__figure_select(&figure, "a,e", &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "'e'"));
    assert_int_equal(pess__figure_select(&figure, "c,a", NULL), PESS_OK);
    assert_int_equal(figure.panel_count, 2);
    assert_int_equal(figure.panels[0].curve_count, 2);
    assert_string_equal(figure.panels[0].curves[0].algorithm, "c");
    assert_string_equal(figure.panels[0].curves[1].algorithm, "a");
    assert_int_equal(figure.panels[1].curve_count, 1);
    assert_int_equal(pess__figure_select(&figure, "c", NULL), PESS_OK);
    assert_int_equal(figure.panel_count, 1);
    assert_true(figure.panels[0].curves[0].mean[0] == 2);
    pess__figure_release(&figure);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(axes_cover_their_range_with_ascending_ticks),
                                       cmocka_unit_test(curves_can_be_told_apart),
                                       cmocka_unit_test(learners_can_be_told_apart),
                                       cmocka_unit_test(curves_are_selected_by_name),
                                       cmocka_unit_test(every_format_is_drawn),
                                       cmocka_unit_test(long_labels_make_the_figure_wider),
                                       cmocka_unit_test(results_are_read_back),
                                       cmocka_unit_test(learning_curves_are_read),
                                       cmocka_unit_test(training_logs_are_read),
                                       cmocka_unit_test(bad_results_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
