#include "encapsulated.h"

static encapsulatedModelClass encapsulated_Obj;

int_T main(int_T argc, const char *argv[])
{
  (void)argc;
  (void)argv;
  encapsulated_Obj.initialize();
  encapsulated_Obj.step();
  return 0;
}
