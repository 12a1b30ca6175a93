/* What ctypes cannot do well (docs/decisions/python.md): steps of vector environments, which take as long as a call
 * through ctypes, and reports of progress, into which Ctrl-C may be raised at any moment.
 *
 * The module has one type, Stepper, made of one address: of a pess_python_steps, which says what to step and where
 * everything goes. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "pess/environments.h"

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
    pess_batch_out *out;
    pess_error *error;
    int64_t count;
    uint8_t *terminated, *truncated, *ended; /* [count] */
    uint8_t *last;                           /* [count*stride] the last observations of what has ended */
    int64_t stride, cells;
    int32_t channels, layout;
} pess_python_steps;

typedef struct stepper {
    PyObject_HEAD pess_python_steps steps;
} stepper;

static void tell_last(const pess_python_steps *s, int64_t i) {
    uint8_t bits[PESS_ENV_MAX_BYTES], *last = s->last + i * s->stride;
    (void)s->final(s->batch, i, s->convert != NULL ? bits : last);
    if (s->convert != NULL) s->convert(bits, s->cells, s->channels, (pess_layout)s->layout, last);
}

/* What has ended, how, and with which observations. Has anything? */
static bool tell_ends(const pess_python_steps *s) {
    const int64_t count = s->count;
    const uint8_t *restrict ends = s->out->ends;
    uint8_t *restrict terminated = s->terminated, *restrict truncated = s->truncated, *restrict ended = s->ended;
    uint8_t any = 0;
    for (int64_t i = 0; i < count; i++) any |= ends[i];
    for (int64_t i = 0; i < count; i++) {
        terminated[i] = ends[i] == PESS_END_TERMINAL;
        truncated[i] = ends[i] == PESS_END_CUTOFF;
        ended[i] = ends[i] != PESS_END_NONE;
    }
    for (int64_t i = 0; any != 0 && i < s->count; i++)
        if (s->ended[i]) tell_last(s, i);
    return any != 0;
}

enum { ENDED = -1, OTHER_ACTIONS = -2 };

/* An array of `count` integers of 32 bits, one after the other? */
static bool takes(const Py_buffer *view, int64_t count) {
    return view->ndim == 1 && view->len == count * (Py_ssize_t)sizeof(int32_t) && view->itemsize == sizeof(int32_t) &&
           view->format != NULL && view->format[0] == 'i' && view->format[1] == '\0';
}

/* step(actions): 0, ENDED where an episode has ended, the status of a step that was refused, or OTHER_ACTIONS where
 * they have to be made integers of 32 bits first. */
static PyObject *step(PyObject *object, PyObject *actions) {
    const pess_python_steps *s = &((stepper *)object)->steps;
    Py_buffer view;
    if (PyObject_GetBuffer(actions, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        return PyLong_FromLong(OTHER_ACTIONS);
    }
    if (!takes(&view, s->count)) {
        PyBuffer_Release(&view);
        return PyLong_FromLong(OTHER_ACTIONS);
    }
    pess_status status;
    bool ended = false;
    Py_BEGIN_ALLOW_THREADS;
    status = s->step(s->batch, view.buf, s->out, s->error);
    if (status == PESS_OK) ended = tell_ends(s);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&view);
    return PyLong_FromLong(ended ? ENDED : (long)status);
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    unsigned long long steps;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "K", &steps)) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    stepper *self = (stepper *)allocate(type, 0);
    if (self != NULL) self->steps = *(const pess_python_steps *)(uintptr_t)steps;
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
