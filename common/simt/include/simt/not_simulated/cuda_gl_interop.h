// Found only if the simulator has no such header. simtcc reports it at the line that includes it.
#pragma once
#pragma simt not_simulated "graphics interoperability (cuda_gl_interop.h) is"
