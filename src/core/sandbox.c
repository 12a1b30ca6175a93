#include "core/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_MACHINE AUDIT_ARCH_AARCH64
#endif

enum { EXIT_DONE = 0, EXIT_NO_SANDBOX = 70 };

/* ---- in the child */

/* Address space as it is, and `more`. */
static bool limit_memory(int64_t more) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    const bool read = file != NULL && fscanf(file, "%ld", &pages) == 1;
    if (file != NULL) (void)fclose(file);
    const rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)more;
    return read && setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes}) == 0;
}

static bool set_limits(const pess__sandbox_limits *limits) {
    const rlim_t seconds = (rlim_t)limits->seconds;
    return limit_memory(limits->memory) && setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds}) == 0 &&
           setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}) == 0 &&
           setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}) == 0 && setrlimit(RLIMIT_NPROC, &(struct rlimit){0, 0}) == 0;
}

#ifdef THIS_MACHINE
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define ALLOW_CALL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ANSWER(SECCOMP_RET_ALLOW)
/* Memory that is never to be run: the third argument is the protection. */
#define ALLOW_MEMORY(name)                                                                                             \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD(args[2]),                                              \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), ANSWER(SECCOMP_RET_ERRNO | EPERM),                      \
        ANSWER(SECCOMP_RET_ALLOW)

/* System calls that work on the process's own memory, the answer, and the end. All others fail. */
static bool close_doors(int to) {
    struct sock_filter rules[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_MACHINE, 1, 0),
        ANSWER(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        ALLOW_CALL(brk),
        ALLOW_CALL(munmap),
        ALLOW_CALL(mremap),
        ALLOW_CALL(madvise),
        ALLOW_CALL(futex),
        ALLOW_CALL(clock_gettime),
        ALLOW_CALL(gettimeofday),
        ALLOW_CALL(getpid),
        ALLOW_CALL(gettid),
        ALLOW_CALL(rt_sigreturn),
        ALLOW_CALL(exit),
        ALLOW_CALL(exit_group),
        ALLOW_MEMORY(mmap),
        ALLOW_MEMORY(mprotect),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)to, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        ANSWER(SECCOMP_RET_ERRNO | EPERM),
    };
    const struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#else
static bool close_doors(int to) {
    (void)to;
    return false;
}
#endif

/* Branches taken by a child are counted in files, which it must not write: where PESS_COUNT_CHILD says so, it may. */
#ifdef PESS__COUNTED
extern void __gcov_dump(void);
#define WRITE_COUNTS __gcov_dump
static bool is_counted(void) { return getenv("PESS_COUNT_CHILD") != NULL; }
#else
#define WRITE_COUNTS() (void)0
static bool is_counted(void) { return false; }
#endif

void pess__sandbox_leave(void) {
    if (is_counted()) WRITE_COUNTS();
    _exit(EXIT_DONE);
}

static void run_child(void (*body)(void *context, int to), void *context, int to, const pess__sandbox_limits *limits) {
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGPIPE, SIGXCPU, SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) (void)signal(crashes[i], SIG_DFL);
    if (!is_counted() && (!set_limits(limits) || !close_doors(to))) _exit(EXIT_NO_SANDBOX);
    body(context, to);
    pess__sandbox_leave();
}

void pess__sandbox_write(int to, const void *bytes, size_t size) {
    for (const char *at = bytes; size > 0;) {
        const ssize_t wrote = write(to, at, size);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) pess__sandbox_leave();
        at += wrote;
        size -= (size_t)wrote;
    }
}

/* ---- in the process that asks */

pess_status pess__sandbox_start(pess__sandbox *sandbox, void (*body)(void *context, int to), void *context,
                                const pess__sandbox_limits *limits, pess_error *error) {
    int ends[2];
    *sandbox = (pess__sandbox){.child = -1, .from = -1, .limits = *limits};
    if (pipe2(ends, O_CLOEXEC) != 0) return pess__fail(error, PESS_IO, "no pipe: %s", strerror(errno));
    sandbox->child = fork();
    if (sandbox->child == 0) {
        (void)close(ends[0]);
        run_child(body, context, ends[1], limits);
    }
    (void)close(ends[1]);
    sandbox->from = ends[0];
    if (sandbox->child > 0) return PESS_OK;
    (void)close(ends[0]);
    return pess__fail(error, PESS_IO, "no process: %s", strerror(errno));
}

bool pess__sandbox_read(pess__sandbox *sandbox, void *to, size_t size) {
    for (char *at = to; size > 0;) {
        struct pollfd wait = {.fd = sandbox->from, .events = POLLIN};
        const int ready = poll(&wait, 1, 1000 * PESS__SANDBOX_PATIENCE * sandbox->limits.seconds);
        if (ready < 0 && errno == EINTR) continue;
        sandbox->silent = ready == 0;
        const ssize_t got = ready > 0 ? read(sandbox->from, at, size) : 0;
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

void pess__sandbox_end(pess__sandbox *sandbox, char *how, size_t size) {
    int state = 0;
    how[0] = '\0';
    if (sandbox->child <= 0) return;
    (void)close(sandbox->from);
    if (sandbox->silent) (void)kill(sandbox->child, SIGKILL);
    while (waitpid(sandbox->child, &state, 0) < 0 && errno == EINTR) {}
    sandbox->child = -1;
    if (sandbox->silent)
        (void)snprintf(how, size, "did not answer for %d s", PESS__SANDBOX_PATIENCE * sandbox->limits.seconds);
    else if (WIFSIGNALED(state) && (WTERMSIG(state) == SIGXCPU || WTERMSIG(state) == SIGKILL))
        (void)snprintf(how, size, "needed more than %d s of processor time", sandbox->limits.seconds);
    else if (WIFSIGNALED(state) && WTERMSIG(state) != SIGPIPE)
        (void)snprintf(how, size, "crashed (%s)", strsignal(WTERMSIG(state)));
    else if (WIFEXITED(state) && WEXITSTATUS(state) == EXIT_NO_SANDBOX)
        (void)snprintf(how, size, "could not be kept from other files (no seccomp on this system)");
    else if (WIFEXITED(state) && WEXITSTATUS(state) != EXIT_DONE)
        (void)snprintf(how, size, "ended with code %d", WEXITSTATUS(state));
}
