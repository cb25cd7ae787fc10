/* Ends with a status. */
unsigned char quietcore_guest_main(void) { return 42; }
