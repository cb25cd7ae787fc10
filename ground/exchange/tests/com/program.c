/* A program that uses every function of Com.h; compiled as C99 and as C++17 by the tests. */
#include <stddef.h>

#include "Com.h"

const struct quietcore_services *quietcore_services_given;

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 0, or the line of the first check that failed. */
int send_all(uint32_t value);
int receive_all(uint32_t expected);
int without_a_loader(void);
int is_no_kernel(void);
int is_a_kernel(void);
unsigned layout(unsigned index);

#ifdef __cplusplus
}
#endif

#define CHECK(condition)      \
    do {                      \
        if (!(condition)) {   \
            return __LINE__;  \
        }                     \
    } while (0)

int send_all(uint32_t value)
{
    double speed = 2.5;
    uint8_t gear = 3;
    CHECK(Com_SendSignal(0, &value) == E_OK);
    CHECK(Com_SendSignal(1, &speed) == E_OK);
    CHECK(Com_SendSignal(2, &gear) == E_OK);
    CHECK(Com_SendSignalGroup(0) == E_OK);
    CHECK(Com_SendDynSignal(3, "hello", 5) == E_OK);
    CHECK(Com_SendSignal(4, &value) == E_NOT_OK);
    CHECK(Com_SendSignal(0, NULL) == E_NOT_OK);
    CHECK(Com_Now() == 5000u);
    return 0;
}

int receive_all(uint32_t expected)
{
    struct {
        uint32_t value;
        uint32_t guard;
    } number = {0, 0xabababab};
    double speed = 0.0;
    uint8_t gear = 0;
    char text[8] = {0};
    uint16_t length = sizeof text;
    const struct quietcore_services *given = quietcore_services_given;
    Com_SignalStateType state;
    CHECK(given->signal_count(given->context, 0u) == 1u);
    CHECK(given->signal_count(given->context, 3u) == 1u);
    CHECK(given->group_count(given->context, 0u) == 1u);
    CHECK(given->group_count(given->context, 1u) == 0u);
    CHECK(Com_GetSignalState(0, &state) == E_OK);
    CHECK(state.updated == 1 && state.count == 1 && state.overdue == 0 && state.age_ns == 50);
    CHECK(Com_ReceiveSignal(0, &number.value) == E_OK);
    CHECK(number.value == expected && number.guard == 0xabababab);
    CHECK(Com_GetSignalGroupState(0, &state) == E_OK && state.updated == 1);
    CHECK(Com_ReceiveSignalGroup(0) == E_OK);
    CHECK(Com_ReceiveSignal(1, &speed) == E_OK && speed > 2.49 && speed < 2.51);
    CHECK(Com_ReceiveSignal(2, &gear) == E_OK && gear == 3);
    CHECK(Com_ReceiveDynSignal(3, text, &length) == E_OK && length == 5 && text[4] == 'o');
    length = sizeof text;
    CHECK(Com_ReceiveDynSignal(3, text, &length) == COM_QUEUE_EMPTY && length == 0);
    CHECK(Com_ReceiveSignal(9, &speed) == E_NOT_OK);
    CHECK(Com_WaitSignal(0, &number.value, 1000u) == COM_NOTHING_NEW && number.value == expected);
    CHECK(Com_WaitSignal(1, &speed, 0u) == COM_NOTHING_NEW && speed > 2.49 && speed < 2.51);
    CHECK(Com_WaitSignalGroup(0, 0u) == COM_NOTHING_NEW);
    CHECK(Com_WaitSignal(9, &speed, 0u) == E_NOT_OK && Com_WaitSignal(0, NULL, 0u) == E_NOT_OK);
    return 0;
}

int without_a_loader(void)
{
    uint16_t length = 0;
    Com_SignalStateType state;
    CHECK(Com_SendSignal(0, &length) == COM_SERVICE_NOT_AVAILABLE);
    CHECK(Com_ReceiveSignal(0, &length) == COM_SERVICE_NOT_AVAILABLE);
    CHECK(Com_SendSignalGroup(0) == COM_SERVICE_NOT_AVAILABLE);
    CHECK(Com_ReceiveSignalGroup(0) == COM_SERVICE_NOT_AVAILABLE);
    CHECK(Com_SendDynSignal(0, &length, 1) == COM_SERVICE_NOT_AVAILABLE);
    CHECK(Com_ReceiveDynSignal(0, &length, &length) == COM_SERVICE_NOT_AVAILABLE);
    CHECK(Com_GetSignalState(0, &state) == COM_SERVICE_NOT_AVAILABLE);
    CHECK(Com_GetSignalGroupState(0, &state) == COM_SERVICE_NOT_AVAILABLE);
    CHECK(Com_WaitSignal(0, &length, 1u) == COM_SERVICE_NOT_AVAILABLE);
    CHECK(Com_WaitSignalGroup(0, 1u) == COM_SERVICE_NOT_AVAILABLE);
    CHECK(Com_Now() == 0u);
    return 0;
}

int is_no_kernel(void)
{
    const struct quietcore_services *given = quietcore_services_given;
    struct quietcore_job job = {0, 0, 0, 0, 0, 0};
    CHECK(given->due(given->context) == 0u);
    CHECK(given->until(given->context) == 0u);
    given->interrupt_at(given->context, 1u);
    given->job(given->context, &job);
    given->error(given->context, 0u, 1u, 1u);
    CHECK(given->signal_count(NULL, 0u) == 0u);
    CHECK(given->group_count(NULL, 0u) == 0u);
    return 0;
}

int is_a_kernel(void)
{
    const struct quietcore_services *given = quietcore_services_given;
    struct quietcore_job job = {3u, 1u, 10u, 20u, 40u, 15u};
    CHECK(given->due(given->context) == 1000u);
    CHECK(given->until(given->context) == 1900u);
    CHECK(given->clock(given->context) == 1234u);
    given->interrupt_at(given->context, 1900u);
    given->interrupt_at(given->context, 0u);
    given->job(given->context, &job);
    given->job(given->context, NULL);
    given->error(given->context, 2u, 4u, 1u);
    given->error(given->context, UINT32_MAX, 7u, 255u);
    return 0;
}

unsigned layout(unsigned index)
{
    const size_t numbers[] = {sizeof(struct quietcore_services),
                              offsetof(struct quietcore_services, context),
                              sizeof(struct quietcore_signal_state),
                              offsetof(struct quietcore_signal_state, updated),
                              QUIETCORE_SERVICES_VERSION,
                              sizeof(struct quietcore_job),
                              offsetof(struct quietcore_job, execution_ns)};
    return index < sizeof numbers / sizeof numbers[0] ? (unsigned)numbers[index] : 0u;
}
