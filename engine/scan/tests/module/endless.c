/* A module whose `terminate` never returns, nor its `initialize` where that is `endless`. */
struct quietcore_module {
    unsigned version;
    unsigned rate_count;
    void (*initialize)(void);
    void (*step)(unsigned rate);
    void (*terminate)(void);
    const char *(*error_status)(void);
    const void **services;
    void (*interrupt)(void);
    const char *const *tasks;
    unsigned task_count;
    unsigned (*overflowed)(const void *address);
    unsigned (*under_way)(void);
    const void *(*guard)(unsigned index, unsigned long *bytes);
};

static void good(void) {}
static void endless(void)
{
    for (volatile int turn = 0;; turn = !turn) {
    }
}
static void step(unsigned rate) { (void)rate; }
static const char *error_status(void) { return 0; }

const struct quietcore_module quietcore_module = {
    3, 1, INITIALIZE, step, endless, error_status, 0, 0, 0, 0, 0, 0, 0,
};
