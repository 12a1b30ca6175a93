/* What ctypes cannot do well (docs/decisions/python.md): steps of vector environments, which take as long as a call
 * through ctypes, and reports of progress, into which Ctrl-C may be raised at any moment.
 *
 * The module has one type, Stepper(step, final, batch, out, error, count, terminated, truncated, last, bytes):
 * addresses of pess_batch_step and pess_batch_final_bits, of the batch, of where results go and of an error; how many
 * environments; where to tell what ended and how, and the last observations of bytes each. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "pess/environments.h"

/* ---- steps */

typedef pess_status step_function(pess_batch *batch, const int32_t *actions, const pess_batch_out *out,
                                  pess_error *error);
typedef bool final_function(const pess_batch *batch, int64_t index, uint8_t *out);

typedef struct stepper {
    PyObject_HEAD step_function *step;
    final_function *final;
    pess_batch *batch;
    pess_batch_out *out;
    pess_error *error;
    Py_ssize_t count, bytes;
    uint8_t *terminated, *truncated; /* [count] */
    uint8_t *last;                   /* [count*bytes] */
} stepper;

/* terminated, truncated [count] and last observations, from ends; has any episode ended? */
static bool tell_ends(const stepper *self) {
    uint8_t any = 0;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        const uint8_t end = self->out->ends[i];
        self->terminated[i] = end == PESS_END_TERMINAL;
        self->truncated[i] = end == PESS_END_CUTOFF;
        any |= end;
    }
    for (Py_ssize_t i = 0; any != 0 && i < self->count; i++)
        if (self->out->ends[i] != PESS_END_NONE) (void)self->final(self->batch, i, self->last + i * self->bytes);
    return any != 0;
}

/* step(actions), an array of int32: 0, -1 where an episode has ended, or the status of a step that was refused. */
static PyObject *step(PyObject *object, PyObject *actions) {
    stepper *self = (stepper *)object;
    Py_buffer view;
    if (PyObject_GetBuffer(actions, &view, PyBUF_C_CONTIGUOUS) != 0) return NULL;
    if (view.len != self->count * (Py_ssize_t)sizeof(int32_t)) {
        PyErr_Format(PyExc_ValueError, "actions: found %zd bytes, expected %zd integers of 32 bits", view.len,
                     self->count);
        PyBuffer_Release(&view);
        return NULL;
    }
    pess_status status;
    bool ended = false;
    Py_BEGIN_ALLOW_THREADS;
    status = self->step(self->batch, view.buf, self->out, self->error);
    if (status == PESS_OK) ended = tell_ends(self);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&view);
    return PyLong_FromLong(ended ? -1 : (long)status);
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    unsigned long long at[5], told[3];
    Py_ssize_t count, bytes;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "KKKKKnKKKn", &at[0], &at[1], &at[2], &at[3], &at[4], &count, &told[0], &told[1],
                          &told[2], &bytes))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    stepper *self = (stepper *)allocate(type, 0);
    if (self == NULL) return NULL;
    self->step = (step_function *)(uintptr_t)at[0];
    self->final = (final_function *)(uintptr_t)at[1];
    self->batch = (pess_batch *)(uintptr_t)at[2];
    self->out = (pess_batch_out *)(uintptr_t)at[3];
    self->error = (pess_error *)(uintptr_t)at[4];
    self->count = count;
    self->bytes = bytes;
    self->terminated = (uint8_t *)(uintptr_t)told[0];
    self->truncated = (uint8_t *)(uintptr_t)told[1];
    self->last = (uint8_t *)(uintptr_t)told[2];
    return (PyObject *)self;
}

static void destroy(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
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
    if (made == NULL || type == NULL || PyModule_AddObject(made, "Stepper", type) != 0) {
        Py_XDECREF(type);
        Py_XDECREF(made);
        return NULL;
    }
    return made;
}
