// Found only if the simulator has no such header. simtcc reports it at the line that includes it.
#pragma once
#pragma simt not_simulated "the library of cooperative groups (cooperative_groups/memcpy_async.h) is"
