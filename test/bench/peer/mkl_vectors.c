/* PyTorch's MKL asks this before it uses its AVX-512 code, and is told no on a processor that Intel did not make. Preloaded, the
 * answer is yes: the same wheel then computes with the vectors that the processor has, which is the form to compare with. */
int mkl_serv_intel_cpu_true(void) { return 1; }
