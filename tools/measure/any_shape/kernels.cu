// One part of the kernels of chapter 13's menu: nvcc -DPART=0 -c, and so on up to the last that kernels.inc has.
#include "../../../chapters/13_any_shape/any_product.cuh"
#include "kernels.inc"
