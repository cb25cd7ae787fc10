/* A program of the host that uses every function of quietcore_channel.h; compiled as C99 and as
 * C++17 by the tests. Its first argument says what it does; the exit status is 0, or the line of
 * the first check that failed. */
#include <stdio.h>
#include <string.h>

#include "quietcore_channel.h"

#define CHECK(condition)                                              \
    do {                                                              \
        if (!(condition)) {                                           \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);   \
            return 1;                                                 \
        }                                                             \
    } while (0)

static int refused(void)
{
    char why[200] = "";
    char less[8];
    CHECK(quietcore_channel_open(NULL, "setpiont", QUIETCORE_CHANNEL_READ, why, sizeof why) == NULL);
    CHECK(strstr(why, "did you mean `setpoint`?") != NULL);
    CHECK(quietcore_channel_open("other", "setpoint", QUIETCORE_CHANNEL_READ, less, sizeof less)
          == NULL);
    CHECK(strlen(less) == sizeof less - 1);
    CHECK(quietcore_channel_open(NULL, "setpoint", 7, NULL, 0) == NULL);
    CHECK(quietcore_channel_open(NULL, NULL, QUIETCORE_CHANNEL_READ, why, sizeof why) == NULL);
    CHECK(quietcore_channel_send(NULL) == QUIETCORE_CHANNEL_NOT_OK);
    quietcore_channel_close(NULL);
    return 0;
}

static int send_values(void)
{
    double target = 12.5;
    uint8_t code = 7;
    char why[200] = "";
    quietcore_channel *out =
        quietcore_channel_open("line", "setpoint", QUIETCORE_CHANNEL_END, why, sizeof why);
    CHECK(out != NULL);
    CHECK(quietcore_channel_open(NULL, "setpoint", QUIETCORE_CHANNEL_END, why, sizeof why) == NULL);
    CHECK(strstr(why, "another program") != NULL);
    CHECK(quietcore_channel_signal(out, "none") == -1);
    CHECK(quietcore_channel_value_bytes(out, quietcore_channel_signal(out, "target")) == 8);
    CHECK(quietcore_channel_value_bytes(out, -1) == 0);
    CHECK(quietcore_channel_set(out, quietcore_channel_signal(out, "target"), &target)
          == QUIETCORE_CHANNEL_OK);
    CHECK(quietcore_channel_set(out, 99, &target) == QUIETCORE_CHANNEL_NOT_OK);
    CHECK(quietcore_channel_set(out, 0, NULL) == QUIETCORE_CHANNEL_NOT_OK);
    CHECK(quietcore_channel_receive(out, NULL) == QUIETCORE_CHANNEL_NOT_OK);
    CHECK(quietcore_channel_send(out) == QUIETCORE_CHANNEL_OK);
    CHECK(quietcore_channel_send_message(out, quietcore_channel_signal(out, "code"), &code)
          == QUIETCORE_CHANNEL_OK);
    CHECK(quietcore_channel_send_message(out, quietcore_channel_signal(out, "code"), &code)
          == QUIETCORE_CHANNEL_OK);
    CHECK(quietcore_channel_send_message(out, quietcore_channel_signal(out, "code"), &code)
          == QUIETCORE_CHANNEL_QUEUE_FULL);
    CHECK(quietcore_channel_is_up(out) == 1);
    quietcore_channel_close(out);
    out = quietcore_channel_open(NULL, "setpoint", QUIETCORE_CHANNEL_END, NULL, 0);
    CHECK(out != NULL);
    quietcore_channel_close(out);
    return 0;
}

/* Waits for values until the number of their sending is 3, as the test sends them. */
static int wait_for_values(void)
{
    quietcore_channel_state state = {0, 0, 0, 0, {0}};
    double position = 0.0;
    int16_t alarm = 0;
    int16_t none = 5;
    quietcore_channel *in =
        quietcore_channel_open(NULL, "actual", QUIETCORE_CHANNEL_END, NULL, 0);
    CHECK(in != NULL);
    CHECK(quietcore_channel_receive(in, &state) == QUIETCORE_CHANNEL_OK);
    CHECK(state.count == 0 && state.updated == 0 && state.overdue == 0);
    CHECK(quietcore_channel_get(in, 0, &position) == QUIETCORE_CHANNEL_OK && position > 0.49);
    CHECK(quietcore_channel_wait_ns(in, 1000000u, &state) == QUIETCORE_CHANNEL_NOTHING_NEW);
    printf("waiting\n");
    fflush(stdout);
    while (state.count < 3) {
        CHECK(quietcore_channel_wait_ns(in, 30000000000u, &state) == QUIETCORE_CHANNEL_OK);
        CHECK(state.updated == 1);
        CHECK(quietcore_channel_get(in, 0, &position) == QUIETCORE_CHANNEL_OK);
        CHECK(position > (double)state.count - 0.1 && position < (double)state.count + 0.1);
    }
    CHECK(quietcore_channel_take_message(in, quietcore_channel_signal(in, "alarm"), &alarm)
          == QUIETCORE_CHANNEL_OK);
    CHECK(alarm == -6);
    CHECK(quietcore_channel_take_message(in, quietcore_channel_signal(in, "alarm"), &none)
          == QUIETCORE_CHANNEL_QUEUE_EMPTY);
    CHECK(none == 5);
    CHECK(quietcore_channel_send(in) == QUIETCORE_CHANNEL_NOT_OK);
    quietcore_channel_close(in);
    return 0;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    if (strcmp(argv[1], "refused") == 0) {
        return refused();
    }
    return strcmp(argv[1], "send") == 0 ? send_values() : wait_for_values();
}
