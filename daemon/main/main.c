#include "main/fourhanded.h"

int main(int argc, char **argv)
{
    return fourhanded_main(argc, argv, /* seams= */ NULL);
}
