/* Writes to an address that is no memory. */
extern unsigned long long counter;
unsigned long long counter = 41;
unsigned char quietcore_guest_main(void)
{
    counter++;
    if (counter == 42) {
        *(volatile int *)0x7000000000ull = 1;
    }
    return 0;
}
