// Found only if the simulator has no such header. simtcc reports it at the line that includes it.
#pragma once
#pragma simt not_simulated "8-bit floating-point numbers (cuda_fp8.h) are"
