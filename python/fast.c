/* What ctypes cannot do well (docs/decisions/python.md): steps of vector environments, which take as long as a call
 * through ctypes, and reports of progress, into which Ctrl-C may be raised at any moment.
 *
 * The module has one type, Stepper, made of one address: of a pess_python_steps, which says what to step and where
 * everything goes. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "pess/environments.h"

#include <string.h>

/* ---- steps */

typedef pess_status step_function(pess_batch *batch, const int32_t *actions, const pess_batch_out *out,
                                  pess_error *error);
typedef bool final_function(const pess_batch *batch, int64_t index, uint8_t *out);
typedef void convert_function(const uint8_t *bits, int64_t cells, int channels, pess_layout layout, void *out);

/* As `_Steps` in environments.py has it. */
typedef struct pess_python_steps {
    step_function *step;       /* pess_batch_step */
    final_function *final;     /* pess_batch_final_bits */
    convert_function *convert; /* pess_bits_to_bytes or pess_bits_to_floats; NULL: observations are bits */
    pess_batch *batch;
    const pess_batch_out *out; /* what is asked for: pointers that are not NULL */
    pess_error *error;
    int64_t count;
    int64_t stride, cells; /* stride: bytes of an observation */
    int32_t channels, layout;
} pess_python_steps;

/* What a step returns: arrays of `count` rows. FINAL: the last observations of the episodes that have ended, zeros
 * elsewhere. */
enum { OBSERVATIONS, REWARDS, TERMINATED, TRUNCATED, FINAL, ENDED, ARRAYS };

typedef struct reply {
    PyObject *array[ARRAYS]; /* NULL: not made yet */
    void *at[ARRAYS];
} reply;

/* Several replies take turns. One whose arrays somebody still holds, or looks at through a view, is left to him: so
 * what a step returns never changes afterwards, and where the caller lets go of it nothing is copied or allocated. */
enum { REPLIES = 3 };

typedef struct stepper {
    PyObject_HEAD pess_python_steps steps;
    pess_batch_out out;
    PyObject *make; /* (): a tuple of ARRAYS arrays */
    int shared;     /* the caller wants the same arrays every time */
    int next;
    reply replies[REPLIES];
} stepper;

static PyObject *final_key, *ended_key;

static void reply_clear(reply *a) {
    for (int i = 0; i < ARRAYS; i++) {
        Py_XDECREF(a->array[i]);
        a->array[i] = NULL;
    }
}

static bool reply_is_free(const reply *a) {
    for (int i = 0; i < ARRAYS; i++)
        if (a->array[i] == NULL || Py_REFCNT(a->array[i]) != 1) return false;
    return true;
}

/* New arrays, and where their numbers lie. */
static bool reply_make(stepper *self, reply *a) {
    PyObject *made = PyObject_CallNoArgs(self->make);
    if (made == NULL) return false;
    reply_clear(a);
    bool good = PyTuple_Check(made) && PyTuple_Size(made) == ARRAYS;
    for (int i = 0; good && i < ARRAYS; i++) {
        Py_buffer view;
        PyObject *array = PyTuple_GetItem(made, i);
        good = PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) == 0;
        if (!good) break;
        a->at[i] = view.buf;
        PyBuffer_Release(&view);
        Py_INCREF(array);
        a->array[i] = array;
    }
    Py_DECREF(made);
    if (!good && PyErr_Occurred() == NULL) PyErr_SetString(PyExc_TypeError, "expected arrays to write to");
    return good;
}

/* A reply to write to: the next that is free, or new arrays in the place of the oldest. NULL: an exception. */
static reply *reply_take(stepper *self) {
    for (int tried = 0; tried < REPLIES; tried++) {
        const int i = self->shared ? 0 : (self->next + tried) % REPLIES;
        reply *a = &self->replies[i];
        if (reply_is_free(a) || (self->shared && a->array[0] != NULL)) {
            self->next = (i + 1) % REPLIES;
            return a;
        }
    }
    reply *a = &self->replies[self->shared ? 0 : self->next];
    self->next = (self->next + 1) % REPLIES;
    return reply_make(self, a) ? a : NULL;
}

static void tell_last(const pess_python_steps *s, int64_t i, uint8_t *last) {
    uint8_t bits[PESS_ENV_MAX_BYTES];
    (void)s->final(s->batch, i, s->convert != NULL ? bits : last);
    if (s->convert != NULL) s->convert(bits, s->cells, s->channels, (pess_layout)s->layout, last);
}

/* What has ended, how, and with which observations. Has anything? */
static bool tell_ends(const pess_python_steps *s, const uint8_t *restrict ends, const reply *a) {
    const int64_t count = s->count;
    uint8_t *restrict terminated = a->at[TERMINATED], *restrict truncated = a->at[TRUNCATED],
                      *restrict ended = a->at[ENDED];
    uint8_t any = 0;
    for (int64_t i = 0; i < count; i++) any |= ends[i];
    for (int64_t i = 0; i < count; i++) {
        terminated[i] = ends[i] == PESS_END_TERMINAL;
        truncated[i] = ends[i] == PESS_END_CUTOFF;
        ended[i] = ends[i] != PESS_END_NONE;
    }
    if (any != 0) memset(a->at[FINAL], 0, (size_t)(count * s->stride));
    for (int64_t i = 0; any != 0 && i < count; i++)
        if (ended[i]) tell_last(s, i, (uint8_t *)a->at[FINAL] + i * s->stride);
    return any != 0;
}

enum { OTHER_ACTIONS = -2 };

/* An array of `count` integers of 32 bits, one after the other? */
static bool takes(const Py_buffer *view, int64_t count) {
    return view->ndim == 1 && view->len == count * (Py_ssize_t)sizeof(int32_t) && view->itemsize == sizeof(int32_t) &&
           view->format != NULL && view->format[0] == 'i' && view->format[1] == '\0';
}

/* The step itself, into the arrays of the reply; *ended: did an episode end? */
static pess_status step_into(stepper *self, const reply *a, const int32_t *actions, bool *ended) {
    const pess_python_steps *s = &self->steps;
    pess_batch_out out = self->out;
    out.rewards = a->at[REWARDS];
    if (out.bits != NULL) out.bits = a->at[OBSERVATIONS];
    if (out.bytes != NULL) out.bytes = a->at[OBSERVATIONS];
    if (out.floats != NULL) out.floats = a->at[OBSERVATIONS];
    pess_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = s->step(s->batch, actions, &out, s->error);
    if (status == PESS_OK) *ended = tell_ends(s, out.ends, a);
    Py_END_ALLOW_THREADS;
    return status;
}

/* (observations, rewards, terminated, truncated, info) */
static PyObject *told(PyObject *const array[ARRAYS], bool ended) {
    PyObject *info = PyDict_New(), *all = NULL;
    if (info != NULL && (!ended || (PyDict_SetItem(info, final_key, array[FINAL]) == 0 &&
                                    PyDict_SetItem(info, ended_key, array[ENDED]) == 0)))
        all = PyTuple_Pack(5, array[OBSERVATIONS], array[REWARDS], array[TERMINATED], array[TRUNCATED], info);
    Py_XDECREF(info);
    return all;
}

/* step(actions): what a step returns; or a number: the status of a step that was refused, or OTHER_ACTIONS where they
 * have to be made integers of 32 bits first. */
static PyObject *step(PyObject *object, PyObject *actions) {
    stepper *self = (stepper *)object;
    Py_buffer view;
    if (PyObject_GetBuffer(actions, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        return PyLong_FromLong(OTHER_ACTIONS);
    }
    const bool good = takes(&view, self->steps.count);
    const reply *taken = good ? reply_take(self) : NULL;
    PyObject *result = NULL;
    if (taken != NULL) {
        const reply a = *taken; /* held while other threads may run */
        for (int i = 0; i < ARRAYS; i++) Py_INCREF(a.array[i]);
        bool ended = false;
        const pess_status status = step_into(self, &a, view.buf, &ended);
        result = status == PESS_OK ? told(a.array, ended) : PyLong_FromLong((long)status);
        for (int i = 0; i < ARRAYS; i++) Py_DECREF(a.array[i]);
    }
    PyBuffer_Release(&view);
    return good ? result : PyLong_FromLong(OTHER_ACTIONS);
}

/* Stepper(address of a pess_python_steps, function that makes arrays, whether they are shared) */
static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    unsigned long long steps;
    PyObject *make;
    int shared;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "KOp", &steps, &make, &shared)) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    stepper *self = (stepper *)allocate(type, 0);
    if (self == NULL) return NULL;
    self->steps = *(const pess_python_steps *)(uintptr_t)steps;
    self->out = *self->steps.out;
    self->shared = shared;
    Py_INCREF(make);
    self->make = make;
    return (PyObject *)self;
}

static void destroy(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    stepper *self = (stepper *)object;
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    for (int i = 0; i < REPLIES; i++) reply_clear(&self->replies[i]);
    Py_XDECREF(self->make);
    release(object);
    Py_DECREF(type);
}

/* ---- progress */

static PyObject *listener; /* (what, done, total, unit): go on? */
static PyObject *keeper;   /* is given what was raised; no Python code, into which more could be raised */

static void keep_raised(void) {
    PyObject *type, *raised, *trace;
    PyErr_Fetch(&type, &raised, &trace);
    PyErr_NormalizeException(&type, &raised, &trace);
    if (trace != NULL) (void)PyException_SetTraceback(raised, trace);
    PyObject *kept = PyObject_CallFunctionObjArgs(keeper, raised, NULL);
    if (kept == NULL) PyErr_Clear();
    Py_XDECREF(kept);
    Py_XDECREF(type);
    Py_XDECREF(raised);
    Py_XDECREF(trace);
}

static bool report(void *user, const char *what, double done, double total, const char *unit) {
    (void)user;
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *answer = PyErr_CheckSignals() == 0
                           ? PyObject_CallFunction(listener, "sdds", what ? what : "", done, total, unit ? unit : "")
                           : NULL;
    const bool go_on = answer != NULL && answer != Py_False;
    if (answer == NULL) keep_raised();
    Py_XDECREF(answer);
    PyGILState_Release(state);
    return go_on;
}

/* reporter(listener, keeper): the address of a pess_progress.report that asks the listener. */
static PyObject *reporter(PyObject *self, PyObject *args) {
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &listener, &keeper)) return NULL;
    Py_INCREF(listener);
    Py_INCREF(keeper);
    return PyLong_FromVoidPtr((void *)(uintptr_t)report);
}

static PyMethodDef functions[] = {{"reporter", reporter, METH_VARARGS, "The address of a function that reports."},
                                  {NULL, NULL, 0, NULL}};

/* ---- the module */

static PyMethodDef methods[] = {{"step", step, METH_O, "Steps all environments."}, {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)create}, {Py_tp_dealloc, (void *)destroy}, {Py_tp_methods, methods}, {0, NULL}};

static PyType_Spec spec = {
    .name = "pessimist._fast.Stepper", .basicsize = sizeof(stepper), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_fast", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__fast(void) {
    PyObject *made = PyModule_Create(&module);
    PyObject *type = PyType_FromSpec(&spec);
    final_key = PyUnicode_InternFromString("final_obs");
    ended_key = PyUnicode_InternFromString("_final_obs");
    if (made == NULL || type == NULL || final_key == NULL || ended_key == NULL ||
        PyModule_AddObject(made, "Stepper", type) != 0) {
        Py_XDECREF(type);
        Py_XDECREF(made);
        return NULL;
    }
    return made;
}
