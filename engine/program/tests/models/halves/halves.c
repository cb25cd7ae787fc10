/* Output and update apart, and no header at all. Written for the tests. */
static int counter;
int halves_Y;

void halves_initialize(void)
{
  counter = 10;
}

void halves_output(int tid)
{
  halves_Y = counter + tid;
}

void halves_update(int tid)
{
  (void)tid;
  counter++;
}
