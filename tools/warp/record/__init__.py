"""What ./learn record is made of: timed steps, the device's name, machine code, and what Nsight Compute counts."""
