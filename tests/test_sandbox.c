/* The process for hostile bytes: what it may not do fails, and however it ends the parent hears of it. */
#include "scratch.h"

#include "core/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static const pess__sandbox_limits limits = {.memory = 1 << 28, .seconds = 1};
static volatile int always = 1;

/* Runs the body; what it said is in `answer`, how it ended in `how`. */
static char answer[200], how[200];

static void run(void (*body)(void *, int), void *context) {
    pess__sandbox sandbox;
    pess_error error = {0};
    assert_ok(pess__sandbox_start(&sandbox, body, context, &limits, &error), &error);
    size_t used = 0;
    while (used + 1 < sizeof answer && pess__sandbox_read(&sandbox, answer + used, 1)) used++;
    answer[used] = '\0';
    pess__sandbox_end(&sandbox, how, sizeof how);
}

static void say(int to, const char *text) { pess__sandbox_write(to, text, strlen(text)); }

static void speak(void *context, int to) { say(to, context); }

static void crash(void *context, int to) {
    (void)context;
    say(to, "before");
    (void)raise(SIGSEGV); /* not allowed: fails */
    *(volatile int *)(uintptr_t)(always - 1) = 1;
}

static void loop(void *context, int to) {
    (void)context;
    (void)to;
    while (always) {}
}

static void sleep_long(void *context, int to) {
    (void)context;
    say(to, pause() == -1 && errno == EPERM ? "no pause" : "slept");
}

static void take_memory(void *context, int to) {
    (void)context;
    void *volatile taken = malloc((size_t)1 << 27); /* volatile: compilers leave out memory that nobody uses */
    say(to, taken != NULL ? "some " : "");
    taken = malloc((size_t)1 << 30);
    say(to, taken != NULL ? "all" : "not all");
}

/* Everything that would leave the process. */
static void leave(void *context, int to) {
    char *const *const paths = context;
    const int file = open(paths[0], O_RDONLY), other = open(paths[1], O_CREAT | O_WRONLY, 0600);
    const bool ran = execl("/bin/true", "true", (char *)NULL) != -1;
    const bool forked = fork() != -1;
    const bool talked = socket(AF_INET, SOCK_STREAM, 0) != -1;
    const bool wrote = write(STDERR_FILENO, "", 0) != -1;
    const bool removed = unlink(paths[0]) != -1;
    const bool runs = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
    const bool killed = kill(getppid(), 0) != -1;
    say(to, file < 0 && other < 0 && !ran && !forked && !talked && !wrote && !removed && !runs && !killed
                ? "nothing"
                : "something");
}

static void answers_come_back(void **state) {
    (void)state;
    char text[] = "what the child says";
    run(speak, text);
    assert_string_equal(answer, text);
    assert_string_equal(how, "");
}

static void ends_of_the_process_are_told(void **state) {
    (void)state;
    run(crash, NULL);
    assert_string_equal(answer, "before");
    assert_non_null(strstr(how, "crashed"));
    run(loop, NULL);
    assert_non_null(strstr(how, "needed more than 1 s of processor time"));
    run(sleep_long, NULL);
    assert_string_equal(answer, "no pause");
}

static void limits_are_held(void **state) {
    (void)state;
    run(take_memory, NULL);
    assert_string_equal(answer, "some not all");
    enum { MORE = 1 << 29 }; /* what the parent has taken does not count */
    void *held = mmap(NULL, MORE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(held != MAP_FAILED);
    run(take_memory, NULL);
    assert_string_equal(answer, "some not all");
    assert_int_equal(munmap(held, MORE), 0);
    char *paths[2];
    assert_true(asprintf(&paths[0], "%s", scratch_write(0, "secret")) > 0);
    assert_true(asprintf(&paths[1], "%s.escaped", paths[0]) > 0);
    run(leave, paths);
    assert_string_equal(answer, "nothing");
    assert_int_equal(access(paths[0], F_OK), 0);
    assert_int_equal(access(paths[1], F_OK), -1);
    scratch_remove(paths[0]);
    free(paths[0]);
    free(paths[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_come_back),
                                       cmocka_unit_test(ends_of_the_process_are_told),
                                       cmocka_unit_test(limits_are_held)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
