/* What ctypes cannot do well (docs/decisions/python.md): steps of vector environments, which take as long as a call
 * through ctypes, and reports of progress, into which Ctrl-C may be raised at any moment.
 *
 * The module has one type, Stepper(step, batch, out, error, count, result, kinds): addresses of pess_batch_step, of the
 * batch, of where results go and of an error; what to return; and how the ends of episodes are told. Calling it with an
 * array of int32 steps all environments; it returns `result`, or the status of a step that was refused. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "pess/environments.h"

typedef pess_status step_function(pess_batch *batch, const int32_t *actions, const pess_batch_out *out,
                                  pess_error *error);

typedef struct stepper {
    PyObject_HEAD step_function *step;
    pess_batch *batch;
    pess_batch_out *out;
    pess_error *error;
    Py_ssize_t count;
    uint8_t *terminated, *truncated; /* [count] */
    PyObject *result;                /* where no episode has ended */
    PyObject *ended;                 /* called where one has; gives the result */
} stepper;

/* terminated, truncated [count] from ends; has any episode ended? */
static int tell_ends(const stepper *self) {
    int any = 0;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        const uint8_t end = self->out->ends[i];
        self->terminated[i] = end == PESS_END_TERMINAL;
        self->truncated[i] = end == PESS_END_CUTOFF;
        any |= end;
    }
    return any;
}

static PyObject *step(PyObject *object, PyObject *actions) {
    stepper *self = (stepper *)object;
    Py_buffer view;
    if (PyObject_GetBuffer(actions, &view, PyBUF_C_CONTIGUOUS) != 0) return NULL;
    if (view.len != self->count * (Py_ssize_t)sizeof(int32_t)) {
        PyBuffer_Release(&view);
        return PyErr_Format(PyExc_ValueError, "actions: found %zd bytes, expected %zd integers of 32 bits", view.len,
                            self->count);
    }
    pess_status status;
    Py_BEGIN_ALLOW_THREADS status = self->step(self->batch, view.buf, self->out, self->error);
    Py_END_ALLOW_THREADS PyBuffer_Release(&view);
    if (status != PESS_OK) return PyLong_FromLong((long)status);
    if (tell_ends(self)) return PyObject_CallNoArgs(self->ended);
    Py_INCREF(self->result);
    return self->result;
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    unsigned long long step_at, batch, out, error, terminated, truncated;
    Py_ssize_t count;
    PyObject *result, *ended;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "KKKKnKKOO", &step_at, &batch, &out, &error, &count, &terminated, &truncated, &result,
                          &ended))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    stepper *self = (stepper *)allocate(type, 0);
    if (self == NULL) return NULL;
    self->step = (step_function *)(uintptr_t)step_at;
    self->batch = (pess_batch *)(uintptr_t)batch;
    self->out = (pess_batch_out *)(uintptr_t)out;
    self->error = (pess_error *)(uintptr_t)error;
    self->count = count;
    self->terminated = (uint8_t *)(uintptr_t)terminated;
    self->truncated = (uint8_t *)(uintptr_t)truncated;
    Py_INCREF(result);
    self->result = result;
    Py_INCREF(ended);
    self->ended = ended;
    return (PyObject *)self;
}

static void destroy(PyObject *object) {
    stepper *self = (stepper *)object;
    PyTypeObject *type = Py_TYPE(object);
    Py_CLEAR(self->result);
    Py_CLEAR(self->ended);
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
