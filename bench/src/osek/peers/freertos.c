/* FreeRTOS on its POSIX port: a task notifies a higher one, which runs until it waits again.
 *
 *   freertos CPU PRIORITY TIMES
 *
 * Its tasks are threads, so a hand-over is one between threads, decided by its scheduler.
 */
#define _GNU_SOURCE

#include "reading.h"

#include <unistd.h>

#include "FreeRTOS.h"
#include "task.h"

static TaskHandle_t higher_task;

static void higher(void *nothing)
{
    (void)nothing;
    for (;;) {
        ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        there_ended = reading();
        back_began = reading();
    }
}

static void lower(void *nothing)
{
    (void)nothing;
    for (uint64_t time = 0; time < WARM_UP + times; time++) {
        there_began = reading();
        xTaskNotifyGive(higher_task);
        back_ended = reading();
        take_down(time);
    }
    /* The tick would interrupt what is written. */
    taskENTER_CRITICAL();
    print();
    _exit(0);
}

int main(int count, char **arguments)
{
    if (count != 4) {
        fprintf(stderr, "usage: freertos CPU PRIORITY TIMES\n");
        return 2;
    }
    prepare(arguments + 1);
    prioritise(0);
    xTaskCreate(higher, "higher", configMINIMAL_STACK_SIZE, NULL, 2, &higher_task);
    xTaskCreate(lower, "lower", configMINIMAL_STACK_SIZE, NULL, 1, NULL);
    vTaskStartScheduler();
    return 1;
}
