"""The table of what is counted: the name that the simulator, results and traces use, the unit, the head of a column, and the
hardware counters whose sum it is. What shows counts in Python takes them from here, and a test holds simt/counts.h and the
metrics of the grader to it.
"""

from __future__ import annotations

from typing import NamedTuple


class Count(NamedTuple):
    """One row of the table."""

    name: str
    unit: str
    column: str  # short, as it stands beside the columns before it
    counters: tuple[str, ...] = ()  # of Nsight Compute; none where no counter has the same

    @property
    def words(self) -> str:
        """`global load requests`"""
        return self.name.replace("_", " ")


# Requests to shared memory are those of the instructions themselves: the counter in the hardware, beside, reads a few too
# many now and then, and does not see a generic pointer into shared memory.
COUNTS = (
    Count("global_load_requests", "requests", "global loads", ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",)),
    Count("global_load_sectors", "sectors", "sectors", ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",)),
    Count("global_load_bytes", "bytes", "bytes"),
    Count("global_load_active_lanes", "lanes", "lanes"),
    Count("global_store_requests", "requests", "global stores", ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",)),
    Count("global_store_sectors", "sectors", "sectors", ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",)),
    Count("global_store_bytes", "bytes", "bytes"),
    Count("global_store_active_lanes", "lanes", "lanes"),
    Count(
        "global_atomic_requests",
        "requests",
        "global atomics",
        ("l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"),
    ),
    Count(
        "global_atomic_sectors",
        "sectors",
        "sectors",
        ("l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"),
    ),
    Count("global_atomic_active_lanes", "lanes", "lanes"),
    Count("shared_load_requests", "requests", "shared loads", ("smsp__sass_inst_executed_op_shared_ld.sum",)),
    Count(
        "shared_load_wavefronts", "wavefronts", "wavefronts", ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",)
    ),
    Count(
        "shared_load_bank_conflicts",
        "wavefronts",
        "conflicts",
        ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",),
    ),
    Count("shared_load_active_lanes", "lanes", "lanes"),
    Count("shared_store_requests", "requests", "shared stores", ("smsp__sass_inst_executed_op_shared_st.sum",)),
    Count(
        "shared_store_wavefronts", "wavefronts", "wavefronts", ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",)
    ),
    Count(
        "shared_store_bank_conflicts",
        "wavefronts",
        "conflicts",
        ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",),
    ),
    Count("shared_store_active_lanes", "lanes", "lanes"),
    Count(
        "shared_atomic_requests", "requests", "shared atomics", ("smsp__inst_executed_op_shared_atom_pred_on_any.sum",)
    ),
    Count(
        "shared_atomic_wavefronts",
        "wavefronts",
        "wavefronts",
        ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",),
    ),
    Count("shared_atomic_active_lanes", "lanes", "lanes"),
    Count("shared_wavefronts", "wavefronts", "all wavefronts", ("memory_l1_wavefronts_shared",)),
    Count("shared_wavefronts_ideal", "wavefronts", "ideal", ("memory_l1_wavefronts_shared_ideal",)),
    Count("divergent_branches", "branches", "divergent branches", ("smsp__sass_branch_targets_threads_divergent.sum",)),
)
BY_NAME = {count.name: count for count in COUNTS}
