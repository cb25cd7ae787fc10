/* An error in a loop: an ISR that ends with interrupts held back, again and again. */
#include <stdio.h>

#include "os.h"

enum { ROUNDS = 20000 };

static int hooks;

void ErrorHook(StatusType status) { hooks += status == E_OS_DISABLEDINT; }

ISR(Button) { SuspendOSInterrupts(); }

TASK(Low)
{
    for (int round = 0; round < ROUNDS; round++) {
        quietcore_osek_trigger(BUTTON);
    }
    ShutdownOS(E_OK);
}

int main(void)
{
    StartOS(OSDEFAULTAPPMODE);
    printf("error hooks %d\n", hooks);
    return 0;
}
