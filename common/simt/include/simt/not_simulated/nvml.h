// Found only if the simulator has no such header. simtcc reports it at the line that includes it.
#pragma once
#pragma simt not_simulated "the library NVML (nvml.h) is"
